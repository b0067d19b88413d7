import * as z from 'zod'
import { setting } from '../../kernel/assumptions.ts'
import { anyObject } from '../../kernel/fields.ts'
import { successCreate, successDelete, successRead, successUpdate } from '../../kernel/open-items.ts'
import { operation } from '../../kernel/operation.ts'
import { shown } from '../../kernel/state/state.ts'
import {
  opaqueAnswer,
  opaqueList,
  opaqueListAnswer,
  opaqueNew,
  opaqueUpdate,
  refuseStrict,
  uncontracted,
} from '../opaque.ts'
import { requireAgent } from './agents.ts'
import { armAutomation } from './automation-schedule.ts'
import { automations, requireAutomation } from './automations.ts'
import { dropQueued } from './runs.ts'

export const queuedRuns = setting<'execute' | 'drop'>({
  key: 'automations.queued_runs',
  item: 'T35',
  says: 'What becomes of the queued runs of an automation that is deleted.',
  schema: () => z.enum(['execute', 'drop']),
  default: 'execute',
})

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

/** Soft: the record and the run history stay, and it fires no more. Specification: Delete automation. */
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
  handle: (request) => {
    const { tx, target: automation, at, settings } = request
    const deleted = { ...automation, _emulator: { ...automation._emulator, deleted_at: at } }
    armAutomation(request, tx.in(automations).put(deleted))
    if (settings.get(queuedRuns) === 'drop') {
      dropQueued(request, ({ automation_id }) => automation_id === automation.id)
    }
    return { body: {} }
  },
})
