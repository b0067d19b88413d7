import { z } from 'zod'
import { type Settings, setting } from '../../core/assumptions.ts'
import { anyObject, type InputOf, nonEmptyText, text, timestamp } from '../../core/fields.ts'
import type { Finder } from '../../core/operation.ts'
import { collection } from '../../core/state/collection.ts'
import type { Index } from '../../core/state/indexes.ts'
import { DAY } from '../../core/time/instant.ts'
import { extensible } from '../../core/tomorrow.ts'
import { refersTo, requireOwn, requireVisible } from '../records.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import { type OpaqueRecord, opaqueRecord } from '../uncontracted.ts'
import { cronExpression } from './cron.ts'
import { nameOfProvider, providers, recordedSource, triggerSource } from './providers.ts'

export { providers, triggerSources } from './providers.ts'

export type Agent = OpaqueRecord<{ readonly teamspace_id: string }>

export const agents = collection<Agent>({
  name: 'agents',
  label: 'agent',
  schema: () => opaqueRecord(z.strictObject({ teamspace_id: z.string() })),
  check: refersTo(teamspaces, '_emulator', 'teamspace_id'),
  generate: ({ faker, chance, newId, ago, any }) => ({
    id: newId(),
    name: `${faker.person.jobArea()} ${faker.person.jobType()}`,
    created_at: ago(chance.int(1, 300) * DAY),
    _emulator: { teamspace_id: any(teamspaces).id },
  }),
})

/** Characters of JSON in the payload of an event. One event can start many runs, and each keeps the payload. */
const MAX_PAYLOAD_LENGTH = 65_536

/** The payload of a provider event: any object of at most 65,536 characters of JSON. */
export const eventPayload = () =>
  anyObject().refine((payload) => JSON.stringify(payload).length <= MAX_PAYLOAD_LENGTH, {
    error: `must have at most ${MAX_PAYLOAD_LENGTH} characters as JSON, because every run that it causes keeps it`,
  })

export const runRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    agent_id: z.string(),
    automation_id: z.string().nullable().default(null),
    trigger_id: z.string().nullable().default(null),
    thread_id: z.string().nullable().default(null),
    status: z.enum(['queued', 'executed', 'dropped']),
    queued_at: timestamp(),
    executed_at: timestamp().nullable().default(null),
    /** The cause of the run as a sentence. */
    cause: z.string().default(''),
    /** The provider event that fired the trigger, and its payload. */
    event_id: z.string().nullable().default(null),
    payload: eventPayload().nullable().default(null),
  })

export type AgentRun = z.output<ReturnType<typeof runRecord>>

/** The source of a run: an automation, a trigger, or else its agent, as `collection/id`. */
export function sourceOf({ automation_id, trigger_id, agent_id }: AgentRun): string {
  if (automation_id !== null) return `automations/${automation_id}`
  return trigger_id === null ? `agents/${agent_id}` : `event_triggers/${trigger_id}`
}

export const runsBySource: Index<AgentRun> = { keyOf: sourceOf }

/** The number of runs that are no longer kept, for the fact `runs_dropped` of a record. */
const droppedCount = () => z.int().min(0).optional()

/** The run history of agents, which the API never shows. A run stays after its automation or trigger is deleted. */
export const agentRuns = collection<AgentRun>({ name: 'agent_runs', label: 'agent run', schema: runRecord })

const facts = () =>
  z.strictObject({
    agent_id: z.string(),
    /** When it fires, on the virtual clock; null: never. */
    schedule: cronExpression().nullable().default(null),
    deleted_at: timestamp().nullable().default(null),
    /** The number of its runs that are no longer kept (U075). */
    runs_dropped: droppedCount(),
  })

export type Automation = OpaqueRecord<z.output<ReturnType<typeof facts>>>

export const automations = collection<Automation>({
  name: 'automations',
  label: 'automation',
  schema: () => opaqueRecord(facts()),
  check: refersTo(agents, '_emulator', 'agent_id'),
  generate: ({ faker, newId, any }) => ({
    id: newId(),
    name: faker.hacker.verb(),
    _emulator: { agent_id: any(agents).id },
  }),
})

/** An agent of the caller's teamspace, or `not_found`. */
export function requireAgent(finder: Finder): Agent {
  return requireOwn(finder, agents, finder.params.agent_id)
}

/** An automation that is not deleted, of an agent of the caller's teamspace, or `not_found`. */
export function requireAutomation(finder: Finder): Automation {
  const agent = requireAgent(finder)
  return requireVisible(finder.tx, automations, finder.params.automation_id, ({ _emulator }) => {
    return _emulator.agent_id === agent.id && _emulator.deleted_at === null
  })
}

export const triggerEvents = setting({
  key: 'names.trigger_events',
  item: 'U061',
  description:
    'Sets the event names that a trigger may have, as ResourceName:eventType; an empty list allows any of that form.',
  schema: () => z.array(triggerEvent()),
  default: [],
})

/** `ResourceName:eventType` of at most 255 characters: two parts that are not empty, around the only colon (U061). */
export function triggerEvent(): z.ZodType<string> {
  return text(255)
    .refine((value) => /^[^:]+:[^:]+$/.test(value), { error: 'must have the form ResourceName:eventType' })
    .meta({ maxLength: 255, pattern: '^[^:]+:[^:]+$' })
}

/** The fields that a client may write. Specification: Update event trigger. */
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
    warnings: z
      .array(z.strictObject({ code: nonEmptyText().register(extensible), message: z.string() }))
      .default([]),
  })

const triggerRecord = (settings: Settings) =>
  shownTrigger(settings).extend({
    trigger_source: recordedSource(settings),
    _emulator: z.strictObject({
      agent_id: z.string(),
      /** Whether run_conditions hold: natural language is not evaluated (U062). */
      condition_verdict: z.boolean().default(true),
      /** The thread that responses share when response_thread is not set; null before the first response. */
      thread_id: z.string().nullable().default(null),
      /** The number of its runs that are no longer kept (U075). */
      runs_dropped: droppedCount(),
    }),
  })

export type EventTrigger = z.output<ReturnType<typeof triggerRecord>>

/** A record of `event_triggers` to write. */
export type EventTriggerRecord = InputOf<typeof triggerRecord>

export const eventTriggers = collection<EventTrigger>({
  name: 'event_triggers',
  label: 'event trigger',
  schema: triggerRecord,
  check: refersTo(agents, '_emulator', 'agent_id'),
  generate: ({ faker, chance, n, newId, ago, any }) => {
    const created_at = ago(chance.int(1, 300) * DAY)
    const event = `${faker.helpers.arrayElement(['File', 'Folder', 'Document'])}:created`
    return {
      id: newId(),
      enabled: n % 4 !== 3,
      trigger_source: chance.pick(providers),
      trigger_event: event,
      name: `On ${event}`,
      run_conditions: n % 2 === 0 ? null : faker.lorem.sentence(),
      ...(n % 3 === 0 && { response_thread: 'create_new_thread_each_time' as const }),
      created_at,
      updated_at: created_at,
      _emulator: { agent_id: any(agents).id },
    }
  },
})

/** A trigger with its provider by the name for clients. */
export function namedTrigger(
  trigger: EventTrigger,
  settings: Settings,
): Omit<EventTrigger, 'trigger_source'> & { readonly trigger_source: string } {
  return { ...trigger, trigger_source: nameOfProvider(trigger.trigger_source, settings) }
}

/** A trigger of an agent of the caller's teamspace, or `not_found`. */
export function requireTrigger(finder: Finder): EventTrigger {
  const agent = requireAgent(finder)
  return requireVisible(finder.tx, eventTriggers, finder.params.trigger_id, ({ _emulator }) => {
    return _emulator.agent_id === agent.id
  })
}
