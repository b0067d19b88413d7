import type { Resource } from '../../kernel/operation.ts'
import { listAgents } from './agents.ts'
import { agentAssumptions } from './assumptions.ts'
import {
  createAutomation,
  deleteAutomation,
  listAutomations,
  retrieveAutomation,
  updateAutomation,
} from './automation-operations.ts'
import { armAutomation, fireAutomation } from './automation-schedule.ts'
import { type Automation, automations } from './automations.ts'
import { agentTemplates, claimTemplate, generateTemplate } from './claim.ts'
import { agentControls } from './controls.ts'
import { eventTriggers } from './event-triggers.ts'
import { armRun, executeRun, runHappenings } from './runs.ts'
import { type AgentRun, agentRuns, agents } from './schema.ts'
import { createTrigger, deleteTrigger, listTriggers, updateTrigger } from './trigger-operations.ts'

/** Agents: their templates, the automations and event triggers that make them run, and the runs. */
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
  events: [fireAutomation, executeRun],
  controls: agentControls,
  happenings: runHappenings,
  assumptions: agentAssumptions,
  arm: (scope, table, record) => {
    if (table === automations.name) armAutomation(scope, record as Automation)
    if (table === agentRuns.name) armRun(scope, record as AgentRun)
  },
}
