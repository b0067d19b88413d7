import type { Resource } from '../../kernel/operation.ts'
import { listAgents } from './agents.ts'
import {
  automations,
  createAutomation,
  deleteAutomation,
  listAutomations,
  queuedRuns,
  retrieveAutomation,
  updateAutomation,
} from './automations.ts'
import { agentTemplates, claimTemplate, generateTemplate } from './claim.ts'
import { eventTriggers, triggerEvents } from './event-triggers.ts'
import { triggerSources } from './providers.ts'
import { agentRuns, agents } from './schema.ts'
import { createTrigger, deleteTrigger, listTriggers, updateTrigger } from './trigger-operations.ts'

export const agentsRoom: Resource = {
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
  assumptions: {
    items: [
      {
        id: 'U007',
        open: 'What an entry of connectors holds.',
        reading: 'Any object, as the record of the template has it; none where the record has none.',
        shows: 'answer',
      },
      {
        id: 'U008',
        open: 'Identifiers of the three providers that emit events.',
        reading: 'Three placeholders, until a setting names them; records with another source are refused.',
        shows: 'answer',
      },
      {
        id: 'U058',
        open: 'What becomes of events while a trigger is paused.',
        reading:
          'They are dropped, and not made up for when it is resumed. No answer shows it, only the runs do.',
        shows: 'nowhere',
      },
      {
        id: 'U061',
        open: 'Which event names there are.',
        reading: 'Any with two parts that are not empty around one colon; a setting lists the allowed ones.',
        shows: 'answer',
      },
      {
        id: 'U062',
        open: 'How conditions in natural language are evaluated.',
        reading:
          'They are not: the record of the trigger holds their verdict, which is true unless said otherwise. No answer shows it, only the runs do.',
        shows: 'nowhere',
      },
      {
        id: 'T31',
        open: 'How a trigger goes back to one thread for all responses.',
        reading:
          'It cannot: the only value opens a thread per event, null is refused and leaving the member out keeps it. While it is unset, answers leave it out.',
        shows: 'nowhere',
      },
      {
        id: 'T35',
        open: 'What it means that an automation disappears from list and retrieve, which have no contract.',
        reading:
          'Both leave it out, and so do update and delete; its record and its runs stay. Its queued runs stay queued, since nothing runs agents here, unless a setting drops them.',
        shows: 'nowhere',
      },
    ],
    settings: [triggerSources, triggerEvents, queuedRuns],
  },
}
