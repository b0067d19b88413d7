import { z } from 'zod'
import type { Settings } from '../../core/assumptions.ts'
import { operation } from '../../core/operation.ts'
import { shown } from '../../core/state/state.ts'
import { keepField, refuseEmpty } from '../records.ts'
import { opaqueList, opaqueListResponse, uncontracted } from '../uncontracted.ts'
import { givenSource, nameOfProvider, triggerSources } from './providers.ts'
import {
  type EventTrigger,
  eventTriggers,
  namedTrigger,
  requireAgent,
  requireTrigger,
  shownTrigger,
  triggerEvents,
  writable,
} from './schema.ts'

const collectionPath = '/agents/{agent_id}/event-triggers'
const recordPath = '/agents/{agent_id}/event-triggers/{trigger_id}'

const changes = (settings: Settings) => ({
  enabled: writable.enabled().exactOptional(),
  trigger_event: writable.trigger_event(settings).exactOptional(),
  name: writable.name().exactOptional(),
  description: writable.description().exactOptional(),
  run_conditions: writable.run_conditions().exactOptional(),
  response_thread: writable.response_thread().exactOptional(),
})

export const updateTrigger = operation({
  name: 'event-triggers.update',
  method: 'PATCH',
  path: recordPath,
  summary: 'Update an event trigger',
  section: 'Update event trigger',
  output: shownTrigger,
  input: ({ object }, settings) => ({
    // Any type is valid: a value of another type differs, and the setting decides whether that is refused or ignored.
    body: object({ ...changes(settings), trigger_source: z.unknown().optional() }),
  }),
  find: requireTrigger,
  handle: ({ tx, body, target: trigger, at, settings, assume }) => {
    assume(triggerSources)
    if (body.trigger_event !== undefined) assume(triggerEvents)
    const { trigger_source: source, ...supplied } = body
    if (source !== undefined) {
      const present = nameOfProvider(trigger.trigger_source, settings)
      const detail = `cannot change from "${present}"; to switch providers, delete the trigger and create another`
      keepField('trigger_source', source, present, { assume, detail })
    }
    if (Object.keys(supplied).length > 0) {
      // In the order of the schema: the record may lack response_thread until now.
      const { created_at, updated_at: _, warnings, _emulator, ...fields } = trigger
      const later = { created_at, updated_at: at, warnings, _emulator }
      const changed = tx.in(eventTriggers).put({ ...fields, ...supplied, ...later })
      return { body: asShown(changed, settings) }
    }
    if (source === undefined) refuseEmpty(assume, 'has no field that can be updated')
    return { body: asShown(trigger, settings) }
  },
})

function asShown(trigger: EventTrigger, settings: Settings): object {
  return shown(namedTrigger(trigger, settings))
}

export const listTriggers = uncontracted({
  name: 'event-triggers.list',
  method: 'GET',
  path: collectionPath,
  summary: 'List the event triggers of an agent',
  output: (settings) => opaqueListResponse().extend({ data: z.array(shownTrigger(settings)) }),
  find: requireAgent,
  handle: (request) => {
    const { tx, target: agent } = request
    const own = tx.in(eventTriggers).filter(({ _emulator }) => _emulator.agent_id === agent.id)
    if (own.length > 0) request.assume(triggerSources)
    const named = own.map((trigger) => namedTrigger(trigger, request.settings))
    return { body: opaqueList(named, request) }
  },
})

export const createTrigger = uncontracted({
  name: 'event-triggers.create',
  method: 'POST',
  path: collectionPath,
  summary: 'Create an event trigger',
  output: shownTrigger,
  input: ({ object }, settings) => ({
    body: object({
      ...changes(settings),
      trigger_source: givenSource(settings),
      trigger_event: writable.trigger_event(settings),
    }),
  }),
  find: requireAgent,
  handle: ({ tx, body, target: agent, newId, at, settings, assume }) => {
    assume(triggerSources)
    assume(triggerEvents)
    const { trigger_source, trigger_event, ...others } = body
    // In the order of the schema, so that an exported and imported document has the same text.
    const trigger = tx.in(eventTriggers).insert({
      object: 'event_trigger',
      id: newId(),
      enabled: true,
      trigger_source,
      trigger_event,
      name: null,
      description: null,
      run_conditions: null,
      ...others,
      created_at: at,
      updated_at: at,
      warnings: [],
      _emulator: { agent_id: agent.id, condition_verdict: true, thread_id: null },
    })
    return { body: asShown(trigger, settings) }
  },
})

export const deleteTrigger = uncontracted({
  name: 'event-triggers.delete',
  method: 'DELETE',
  path: recordPath,
  summary: 'Delete an event trigger',
  output: () => z.strictObject({}),
  find: requireTrigger,
  handle: ({ tx, target: trigger }) => {
    tx.in(eventTriggers).delete(trigger.id)
    return { body: {} }
  },
})
