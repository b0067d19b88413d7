import * as z from 'zod'
import { setting } from '../../kernel/assumptions.ts'
import type { Caller } from '../../kernel/auth.ts'
import { collection } from '../../kernel/collection.ts'
import { anyObject, nonEmptyText, timestamp } from '../../kernel/fields.ts'
import { successCreate, successDelete, successRead, successUpdate } from '../../kernel/open-items.ts'
import { operation } from '../../kernel/operation.ts'
import { shown } from '../../kernel/state.ts'
import type { Transaction } from '../../kernel/store.ts'
import { missing } from '../missing.ts'
import {
  type OpaqueRecord,
  opaqueAnswer,
  opaqueList,
  opaqueListAnswer,
  opaqueNew,
  opaqueRecord,
  opaqueUpdate,
  refuseStrict,
  uncontracted,
} from '../opaque.ts'
import { requireVisible } from '../visible.ts'
import { requireAgent } from './agents.ts'
import { agentRuns, agents } from './schema.ts'

const facts = () =>
  z.strictObject({
    agent_id: z.string(),
    /** When it fires; null: never. */
    schedule: nonEmptyText().nullable().default(null),
    deleted_at: timestamp().nullable().default(null),
  })

export type Automation = OpaqueRecord<z.output<ReturnType<typeof facts>>>

export const automations = collection<Automation>({
  name: 'automations',
  label: 'automation',
  schema: () => opaqueRecord(facts()),
  check: ({ _emulator }, tx) => missing(tx, agents, _emulator.agent_id, '_emulator', 'agent_id'),
  generate: ({ faker, newId, any }) => ({
    id: newId(),
    name: faker.hacker.verb(),
    _emulator: { agent_id: any(agents).id, schedule: null, deleted_at: null },
  }),
})

export const queuedRuns = setting<'execute' | 'drop'>({
  key: 'automations.queued_runs',
  item: 'T35',
  says: 'What becomes of the queued runs of an automation that is deleted.',
  schema: () => z.enum(['execute', 'drop']),
  default: 'execute',
})

type Path = Readonly<Record<string, string>>

/** An automation that is not deleted, of an agent of the caller's teamspace, or `not_found`. */
function requireAutomation(tx: Transaction, caller: Caller, params: Path): Automation {
  const agent = requireAgent(tx, caller, params.agent_id)
  return requireVisible(tx, automations, params.automation_id, ({ _emulator }) => {
    return _emulator.agent_id === agent.id && _emulator.deleted_at === null
  })
}

const collectionPath = '/agents/{agent_id}/automations'
const recordPath = '/agents/{agent_id}/automations/{automation_id}'

export const listAutomations = operation({
  ...uncontracted,
  name: 'automations.list',
  method: 'GET',
  path: collectionPath,
  summary: 'List the automations of an agent',
  success: successRead,
  answer: opaqueListAnswer,
  find: ({ settings, tx, caller, params }) => {
    refuseStrict(settings, 'automations.list')
    return requireAgent(tx, caller, params.agent_id)
  },
  handle: (request) => {
    const { tx, target: agent } = request
    const active = tx.in(automations).filter(({ _emulator }) => {
      return _emulator.agent_id === agent.id && _emulator.deleted_at === null
    })
    return { body: opaqueList(active, request) }
  },
})

export const createAutomation = operation({
  ...uncontracted,
  name: 'automations.create',
  method: 'POST',
  path: collectionPath,
  summary: 'Create an automation',
  success: successCreate,
  answer: opaqueAnswer,
  input: () => ({ body: anyObject() }),
  find: ({ settings, tx, caller, params }) => {
    refuseStrict(settings, 'automations.create')
    return requireAgent(tx, caller, params.agent_id)
  },
  handle: ({ tx, body, target: agent, newId, note }) => {
    note('U043')
    const firstFacts = { agent_id: agent.id, schedule: null, deleted_at: null }
    return { body: shown(tx.in(automations).put(opaqueNew(body, newId(), firstFacts))) }
  },
})

export const retrieveAutomation = operation({
  ...uncontracted,
  name: 'automations.retrieve',
  method: 'GET',
  path: recordPath,
  summary: 'Retrieve an automation',
  success: successRead,
  answer: opaqueAnswer,
  find: ({ settings, tx, caller, params }) => {
    refuseStrict(settings, 'automations.retrieve')
    return requireAutomation(tx, caller, params)
  },
  handle: ({ target: automation, note }) => {
    note('U043')
    return { body: shown(automation) }
  },
})

export const updateAutomation = operation({
  ...uncontracted,
  name: 'automations.update',
  method: 'PATCH',
  path: recordPath,
  summary: 'Update an automation',
  success: successUpdate,
  answer: opaqueAnswer,
  input: () => ({ body: anyObject() }),
  find: ({ settings, tx, caller, params }) => {
    refuseStrict(settings, 'automations.update')
    return requireAutomation(tx, caller, params)
  },
  handle: ({ tx, body, target: automation, note }) => {
    note('U043')
    return { body: shown(tx.in(automations).put(opaqueUpdate(automation, body))) }
  },
})

/** Soft: the record stays, and with it the run history. Specification: Delete automation. */
export const deleteAutomation = operation({
  name: 'automations.delete',
  method: 'DELETE',
  path: recordPath,
  summary: 'Delete an automation',
  section: 'Delete automation',
  dialect: 'standard',
  contract: true,
  success: successDelete,
  answer: () => z.strictObject({}),
  find: ({ tx, caller, params }) => requireAutomation(tx, caller, params),
  handle: ({ tx, target: automation, at, settings }) => {
    const { id, _emulator } = automation
    tx.in(automations).put({ ...automation, _emulator: { ..._emulator, deleted_at: at } })
    if (settings.get(queuedRuns) === 'drop') dropQueuedRuns(tx, id)
    return { body: {} }
  },
})

function dropQueuedRuns(tx: Transaction, automation: string): void {
  const runs = tx.in(agentRuns)
  const queued = runs.filter(
    ({ automation_id, status }) => automation_id === automation && status === 'queued',
  )
  for (const run of queued) runs.put({ ...run, status: 'dropped' })
}
