import { z } from 'zod'
import type { Settings } from '../../core/assumptions.ts'
import type { InputOf, ShapeOf } from '../../core/fields.ts'
import { control, type Scope } from '../../core/operation.ts'
import { givenSource, nameOfProvider } from './providers.ts'
import { queueRun } from './runs.ts'
import { type EventTrigger, eventPayload, eventTriggers, triggerEvent } from './schema.ts'

const emission = (settings: Settings) =>
  z.strictObject({
    source: givenSource(settings),
    event: triggerEvent(),
    payload: eventPayload().default({}),
  })

export type ProviderEventDraft = InputOf<typeof emission>

/** An event of a provider, with its source by the name that records use. */
export type Emission = z.output<ReturnType<typeof emission>>

/** The result of an event of a provider. */
const emitted = () =>
  z.strictObject({
    object: z.literal('provider_event'),
    id: z.string(),
    source: z.string(),
    event: z.string(),
    /** Triggers that started a run of their agent. */
    fired: z.array(
      z.strictObject({
        trigger_id: z.string(),
        agent_id: z.string(),
        run_id: z.string(),
        thread_id: z.string().nullable(),
      }),
    ),
    /** Triggers for this event that did not fire, each with the reason. */
    not_fired: z.array(z.strictObject({ trigger_id: z.string(), agent_id: z.string(), because: z.string() })),
  })

export type ProviderEventResult = ShapeOf<typeof emitted>

export const emitEvent = control({
  name: 'provider-event',
  method: 'POST',
  path: '/provider-events',
  summary:
    'Emit an event of a provider: each trigger of each teamspace for this event fires, or reports why not',
  input: (settings) => ({ body: emission(settings) }),
  output: emitted,
  handle: (scope, { body }) => emit(scope, body),
})

// An event of a provider belongs to no teamspace, so triggers of all of them can fire. Specification: Inbound provider events.
function emit(scope: Scope, emission: Emission): ProviderEventResult {
  const { tx, settings, newId } = scope
  const id = newId()
  const source = nameOfProvider(emission.source, settings)
  const concerned = tx.in(eventTriggers).filter((trigger) => concerns(trigger, emission))
  const fired: ProviderEventResult['fired'][number][] = []
  const not_fired: ProviderEventResult['not_fired'][number][] = []
  for (const trigger of concerned) {
    const facts = { trigger_id: trigger.id, agent_id: trigger._emulator.agent_id }
    const because = obstacle(trigger)
    if (because === undefined) {
      const run = queueRun(scope, {
        agent_id: facts.agent_id,
        trigger_id: trigger.id,
        thread_id: threadFor(scope, trigger),
        cause: `The provider ${source} emitted ${emission.event}.`,
        event_id: id,
        payload: emission.payload,
      })
      fired.push({ ...facts, run_id: run.id, thread_id: run.thread_id })
    } else not_fired.push({ ...facts, because })
  }
  return { object: 'provider_event', id, source, event: emission.event, fired, not_fired }
}

// The shared thread is kept while a trigger opens one per event: it is used again when the trigger changes back.
function threadFor({ tx, newUuid }: Scope, trigger: EventTrigger): string {
  const { response_thread, _emulator } = trigger
  if (response_thread === 'create_new_thread_each_time') return newUuid()
  if (_emulator.thread_id !== null) return _emulator.thread_id
  const thread_id = newUuid()
  tx.in(eventTriggers).put({ ...trigger, _emulator: { ..._emulator, thread_id } })
  return thread_id
}

/** Whether a trigger waits for an event: they have the same provider and exactly the same name. */
export function concerns(
  trigger: Pick<EventTrigger, 'trigger_source' | 'trigger_event'>,
  { source, event }: Pick<Emission, 'source' | 'event'>,
): boolean {
  return trigger.trigger_source === source && trigger.trigger_event === event
}

/**
 * Why a trigger does not fire on its event, as a sentence; undefined when it fires. Conditions in natural language are not
 * evaluated: the record has their verdict (U062).
 */
export function obstacle({
  enabled,
  run_conditions,
  _emulator,
}: Pick<EventTrigger, 'enabled' | 'run_conditions' | '_emulator'>): string | undefined {
  if (!enabled) return 'The trigger is paused: enabled is false. The event is dropped, not kept for later.'
  if (run_conditions === null || _emulator.condition_verdict) return undefined
  return 'The run_conditions of the trigger do not hold: _emulator.condition_verdict of its record is false.'
}
