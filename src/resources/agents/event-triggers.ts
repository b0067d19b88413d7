import * as z from 'zod'
import { type Settings, setting } from '../../kernel/assumptions.ts'
import { nonEmptyText, text, timestamp } from '../../kernel/fields.ts'
import type { Caller } from '../../kernel/request/auth.ts'
import { collection } from '../../kernel/state/collection.ts'
import type { Transaction } from '../../kernel/state/store.ts'
import { DAY } from '../../kernel/time/duration.ts'
import { missing } from '../missing.ts'
import { requireVisible } from '../visible.ts'
import { requireAgent } from './agents.ts'
import { nameOfProvider, providers, recordedSource, triggerSource } from './providers.ts'
import { agents } from './schema.ts'

export const triggerEvents = setting<readonly string[]>({
  key: 'names.trigger_events',
  item: 'U061',
  says: 'The event names that a trigger may have, as ResourceName:eventType; an empty list allows any of that form.',
  schema: () => z.array(triggerEvent()),
  default: [],
})

/** `ResourceName:eventType` of at most 255 characters: two parts that are not empty, around the only colon (U061). */
export function triggerEvent(): z.ZodType<string> {
  return text(255)
    .refine((value) => /^[^:]+:[^:]+$/.test(value), { error: 'must have the form ResourceName:eventType' })
    .meta({ maxLength: 255, pattern: '^[^:]+:[^:]+$' })
}

/** The members that a client may write. Specification: Update event trigger. */
export const writable = {
  enabled: () => z.boolean(),
  trigger_event: (settings: Settings) => {
    const known = settings.get(triggerEvents)
    return triggerEvent().refine((value) => known.length === 0 || known.includes(value), {
      error: `must be one of ${known.join(', ')} (the setting names.trigger_events)`,
    })
  },
  name: () => text(255).nullable(),
  description: () => text(1000).nullable(),
  run_conditions: () => text(3000).nullable(),
  response_thread: () => z.literal('create_new_thread_each_time'),
} as const

/** An event trigger as the API shows it; `response_thread` is absent while responses reuse one thread (T31). */
export const shownTrigger = (settings: Settings) =>
  z.strictObject({
    object: z.literal('event_trigger').default('event_trigger'),
    id: nonEmptyText(),
    enabled: z.boolean(),
    trigger_source: triggerSource(settings),
    trigger_event: triggerEvent(),
    name: writable.name().default(null),
    description: writable.description().default(null),
    run_conditions: writable.run_conditions().default(null),
    response_thread: writable.response_thread().optional(),
    created_at: timestamp(),
    updated_at: timestamp(),
    warnings: z.array(z.strictObject({ code: nonEmptyText(), message: z.string() })).default([]),
  })

const triggerRecord = (settings: Settings) =>
  shownTrigger(settings).extend({
    trigger_source: recordedSource(settings),
    _emulator: z.strictObject({
      agent_id: z.string(),
      /** Whether run_conditions hold: natural language is not evaluated (U062). */
      condition_verdict: z.boolean().default(true),
      /** The thread that responses share where response_thread is unset; null before the first one. */
      thread_id: z.string().nullable().default(null),
    }),
  })

export type EventTrigger = z.output<ReturnType<typeof triggerRecord>>

export const eventTriggers = collection<EventTrigger>({
  name: 'event_triggers',
  label: 'event trigger',
  schema: triggerRecord,
  check: ({ _emulator }, tx) => missing(tx, agents, _emulator.agent_id, '_emulator', 'agent_id'),
  generate: ({ faker, chance, n, newId, ago, any }) => {
    const created_at = ago(chance.int(1, 300) * DAY)
    const event = `${faker.helpers.arrayElement(['File', 'Folder', 'Document'])}:created`
    return {
      object: 'event_trigger',
      id: newId(),
      enabled: n % 4 !== 3,
      trigger_source: chance.pick(providers),
      trigger_event: event,
      name: `On ${event}`,
      description: null,
      run_conditions: n % 2 === 0 ? null : faker.lorem.sentence(),
      ...(n % 3 === 0 ? { response_thread: 'create_new_thread_each_time' as const } : {}),
      created_at,
      updated_at: created_at,
      warnings: [],
      _emulator: { agent_id: any(agents).id, condition_verdict: true, thread_id: null },
    }
  },
})

/** A trigger with its provider under the name that clients know. */
export function namedTrigger(
  trigger: EventTrigger,
  settings: Settings,
): Omit<EventTrigger, 'trigger_source'> & { readonly trigger_source: string } {
  return { ...trigger, trigger_source: nameOfProvider(trigger.trigger_source, settings) }
}

/** A trigger of an agent of the caller's teamspace, or `not_found`. */
export function requireTrigger(
  tx: Transaction,
  caller: Caller,
  params: Readonly<Record<string, string>>,
): EventTrigger {
  const agent = requireAgent(tx, caller, params.agent_id)
  return requireVisible(tx, eventTriggers, params.trigger_id, ({ _emulator }) => {
    return _emulator.agent_id === agent.id
  })
}
