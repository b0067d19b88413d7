import * as z from 'zod'
import type { Settings } from '../../kernel/assumptions.ts'
import type { JsonObject } from '../../kernel/json.ts'
import type { Scope } from '../../kernel/operation.ts'
import { type EventTrigger, eventTriggers, triggerEvent } from './event-triggers.ts'
import { concerns, obstacle, type ProviderEvent } from './matches-event.ts'
import { givenSource, nameOfProvider } from './providers.ts'
import { queueRun } from './runs.ts'
import { type AgentRun, eventPayload } from './schema.ts'

/** A provider event as a test gives it: its source under the name that clients know. */
export const emission = (settings: Settings): z.ZodType<Emission> =>
  z.strictObject({
    source: givenSource(settings),
    event: triggerEvent(),
    payload: eventPayload().default({}),
  })

/** What a provider emits, and what it tells beside. */
export interface Emission extends ProviderEvent {
  readonly payload: Readonly<Record<string, unknown>>
}

/**
 * Takes in what a provider emits: every trigger that it concerns makes its agent run, or is named with the reason why not.
 * A provider knows nothing of teamspaces, so the triggers of all of them are looked at. Specification: Inbound provider events.
 */
export function takeIn(scope: Scope, emitted: Emission): JsonObject {
  const { tx, settings, newId } = scope
  const id = newId()
  const concerned = tx.in(eventTriggers).filter((trigger) => concerns(trigger, emitted))
  const fired: JsonObject[] = []
  const not_fired: JsonObject[] = []
  for (const trigger of concerned) {
    const facts = { trigger_id: trigger.id, agent_id: trigger._emulator.agent_id }
    const because = obstacle(trigger)
    if (because === undefined) {
      const run = fire(scope, trigger, { ...emitted, id })
      fired.push({ ...facts, run_id: run.id, thread_id: run.thread_id })
    } else not_fired.push({ ...facts, because })
  }
  const source = nameOfProvider(emitted.source, settings)
  return { object: 'provider_event', id, source, event: emitted.event, fired, not_fired }
}

function fire(
  scope: Scope,
  trigger: EventTrigger,
  { id, source, event, payload }: Emission & { readonly id: string },
): AgentRun {
  return queueRun(scope, {
    agent_id: trigger._emulator.agent_id,
    trigger_id: trigger.id,
    thread_id: threadFor(scope, trigger),
    cause: `The provider ${nameOfProvider(source, scope.settings)} emitted ${event}.`,
    event_id: id,
    payload,
  })
}

// The shared thread is kept while a trigger opens one per event: it is the one that responses go back to.
function threadFor({ tx, newUuid }: Scope, trigger: EventTrigger): string {
  const { response_thread, _emulator } = trigger
  if (response_thread === 'create_new_thread_each_time') return newUuid()
  if (_emulator.thread_id !== null) return _emulator.thread_id
  const thread_id = newUuid()
  tx.in(eventTriggers).put({ ...trigger, _emulator: { ..._emulator, thread_id } })
  return thread_id
}
