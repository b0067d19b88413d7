import { z } from 'zod'
import { choice } from '../../core/assumptions.ts'
import { anyObject } from '../../core/fields.ts'
import { type EventHandler, idOf, operation, refOf, type Scope } from '../../core/operation.ts'
import { shown } from '../../core/state/state.ts'
import { END_OF_TIME } from '../../core/time/clock.ts'
import { eventId, SCHEDULE, type ScheduledEvent } from '../../core/time/scheduler.ts'
import {
  opaqueList,
  opaqueListResponse,
  opaqueNew,
  opaqueResponse,
  opaqueUpdate,
  uncontracted,
} from '../uncontracted.ts'
import { nextOccurrence } from './cron.ts'
import { dropQueued, queueRun } from './runs.ts'
import { type Automation, automations, requireAgent, requireAutomation } from './schema.ts'

const FIRE = 'automation.fire'

/**
 * Schedules the next occurrence of an automation's cron expression, strictly after now. Without an expression, after the
 * automation is deleted, or when the clock ends before that occurrence, its event is removed. An event at the right instant
 * stays unchanged.
 */
export function armAutomation(scope: Scope, automation: Automation): void {
  const ref = refOf(automations, automation)
  const { schedule, deleted_at } = automation._emulator
  const due = schedule === null || deleted_at !== null ? undefined : nextOccurrence(schedule, scope.now)
  if (schedule === null || due === undefined || due > END_OF_TIME) {
    scope.unschedule(ref, [FIRE])
    return
  }
  const present = scope.tx.get(SCHEDULE, eventId(FIRE, ref)) as ScheduledEvent | undefined
  const planned = present === undefined ? Infinity : Date.parse(present.due_at)
  // An occurrence that is due, but has not run yet, must not be lost.
  const isMissed = planned < due && nextOccurrence(schedule, planned - 1) === planned
  if (planned === due || isMissed) return
  const description = `The automation fires on its schedule "${schedule}" and queues a run of its agent.`
  scope.schedule({ kind: FIRE, ref, due, urgency: 'work', description })
}

export const fireAutomation: EventHandler = {
  kind: FIRE,
  description: 'An automation fires: a run of its agent is queued, and its next occurrence is scheduled.',
  // An automation that was deleted, or lost its schedule, since the event was scheduled does not run.
  handle: (scope, { ref }) => {
    const automation = scope.tx.in(automations).get(idOf(ref))
    if (automation === undefined) return
    const { agent_id, schedule, deleted_at } = automation._emulator
    if (schedule === null || deleted_at !== null) return
    queueRun(scope, {
      agent_id,
      automation_id: automation.id,
      cause: 'The schedule of the automation was due.',
    })
    armAutomation(scope, automation)
  },
}

export const queuedRuns = choice({
  key: 'automations.queued_runs',
  item: 'T35',
  description: 'Decides what happens to the queued runs of a deleted automation.',
  values: ['execute', 'drop'],
})

const collectionPath = '/agents/{agent_id}/automations'
const recordPath = '/agents/{agent_id}/automations/{automation_id}'

export const listAutomations = uncontracted({
  name: 'automations.list',
  method: 'GET',
  path: collectionPath,
  summary: 'List the automations of an agent',
  output: opaqueListResponse,
  find: requireAgent,
  handle: (request) => {
    const { tx, target: agent } = request
    const active = tx.in(automations).filter(({ _emulator }) => {
      return _emulator.agent_id === agent.id && _emulator.deleted_at === null
    })
    return { body: opaqueList(active, request) }
  },
})

export const createAutomation = uncontracted({
  name: 'automations.create',
  method: 'POST',
  path: collectionPath,
  summary: 'Create an automation',
  output: opaqueResponse,
  input: () => ({ body: anyObject() }),
  find: requireAgent,
  handle: ({ tx, body, target: agent, newId }) => {
    const facts = { agent_id: agent.id, schedule: null, deleted_at: null }
    return { body: shown(tx.in(automations).insert(opaqueNew(body, newId(), facts))) }
  },
})

export const retrieveAutomation = uncontracted({
  name: 'automations.retrieve',
  method: 'GET',
  path: recordPath,
  summary: 'Retrieve an automation',
  output: opaqueResponse,
  find: requireAutomation,
  handle: ({ target }) => ({ body: shown(target) }),
})

export const updateAutomation = uncontracted({
  name: 'automations.update',
  method: 'PATCH',
  path: recordPath,
  summary: 'Update an automation',
  output: opaqueResponse,
  input: () => ({ body: anyObject() }),
  find: requireAutomation,
  handle: ({ tx, body, target: automation }) => {
    return { body: shown(tx.in(automations).put(opaqueUpdate(automation, body))) }
  },
})

/** A soft delete: the record and the run history stay, but it no longer fires. Specification: Delete automation. */
export const deleteAutomation = operation({
  name: 'automations.delete',
  method: 'DELETE',
  path: recordPath,
  summary: 'Delete an automation',
  section: 'Delete automation',
  output: () => z.strictObject({}),
  find: requireAutomation,
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
