import { inResponse, unnamedItem } from '../../core/assumptions.ts'
import type { Resource } from '../../core/service.ts'
import { isOwn } from '../records.ts'
import { opaqueList, opaqueListResponse, uncontracted } from '../uncontracted.ts'
import {
  armAutomation,
  createAutomation,
  deleteAutomation,
  fireAutomation,
  listAutomations,
  queuedRuns,
  retrieveAutomation,
  updateAutomation,
} from './automations.ts'
import { emitEvent } from './provider-events.ts'
import { triggerSources } from './providers.ts'
import { armRun, executeRun, keptRuns, listRuns, queueTime, runRecordEvents } from './runs.ts'
import {
  type AgentRun,
  type Automation,
  agentRuns,
  agents,
  automations,
  eventTriggers,
  triggerEvents,
} from './schema.ts'
import { agentTemplates, claimTemplate, generateTemplate } from './templates.ts'
import { createTrigger, deleteTrigger, listTriggers, updateTrigger } from './triggers.ts'

const listAgents = uncontracted({
  name: 'agents.list',
  method: 'GET',
  path: '/agents',
  summary: 'List agents',
  output: opaqueListResponse,
  handle: (request) => {
    const own = request.tx.in(agents).filter((agent) => isOwn(request.caller, agent))
    return { body: opaqueList(own, request) }
  },
})

/** Agents: their templates, the automations and event triggers that make them run, and the runs. */
export const agentsResource: Resource = {
  name: 'agents',
  operations: [
    claimTemplate,
    generateTemplate,
    listAgents,
    deleteAutomation,
    listAutomations,
    createAutomation,
    retrieveAutomation,
    updateAutomation,
    updateTrigger,
    listTriggers,
    createTrigger,
    deleteTrigger,
  ],
  collections: [agents, agentTemplates, automations, eventTriggers, agentRuns],
  events: [fireAutomation, executeRun],
  controls: [emitEvent, listRuns],
  recordEvents: runRecordEvents,
  assumptions: {
    items: [
      inResponse(
        'U007',
        'What an entry of connectors holds.',
        'Any object. A response has the connectors of the record of the template, and none if the record has none.',
        'The record of the template decides it; the response of the real service is not known.',
      ),
      inResponse(
        'U008',
        'Identifiers of the three providers that emit events.',
        'Three placeholders, until a setting names them; records with another source are refused.',
      ),
      unnamedItem(
        'U058',
        'What happens to events while a trigger is paused.',
        'They are dropped, and not repeated when it is resumed. Only the control interface, which sent the event, reports that the trigger did not fire.',
        'A paused trigger makes no response.',
      ),
      inResponse(
        'U061',
        'Which event names there are.',
        'Any with two parts that are not empty around one colon; a setting lists those that a client may give a trigger.',
      ),
      unnamedItem(
        'U062',
        'How conditions in natural language are evaluated.',
        'They are not: the record of the trigger holds their verdict, _emulator.condition_verdict, by default true. No response shows it, only the runs do.',
        'Only the runs show it, and no response shows a run.',
      ),
      unnamedItem(
        'U075',
        'How long the run history of an automation is retained.',
        'The newest 1,000 runs of each automation and of each event trigger are kept, unless a setting changes that, and queued ones always; _emulator.runs_dropped of its record counts the others. No response shows a run.',
        'No response shows a run.',
      ),
      unnamedItem(
        'T31',
        'How a trigger goes back to one thread for all responses.',
        'It cannot: the only value opens a thread per event, null is refused and leaving the field out keeps it. While it is unset, responses leave it out, and the first firing opens the thread that all share.',
        'The field of a response is specified; the value that is missing has no other form.',
      ),
      unnamedItem(
        'T35',
        'What it means that an automation disappears from list and retrieve, which have no contract.',
        'Both leave it out, and so do update and delete; its record and its runs stay. It fires no more, and its queued runs still execute unless a setting drops them. Automations fire by the cron expression in _emulator.schedule of their records, in UTC.',
        'Responses leave out what was deleted, as specified; those without a contract name U043.',
      ),
    ],
    settings: [triggerSources, triggerEvents, queuedRuns, queueTime, keptRuns],
  },
  arm: (scope, table, record) => {
    if (table === automations.name) armAutomation(scope, record as Automation)
    if (table === agentRuns.name) armRun(scope, record as AgentRun)
  },
}
