import { z } from 'zod'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { queryText, type ShapeOf, timestamp } from '../../../core/fields.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { SCENARIO, type ScenarioRow } from '../../../core/scenarios/row.ts'
import { type Change, transitionOf } from '../../../core/state/commit.ts'
import { CLOCK, SANDBOX_TABLE } from '../../../core/state/state.ts'
import type { ClockRow } from '../../../core/time/clock.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import { futureEvent, ranEvent } from '../../../core/time/scheduler.ts'
import { EVENT_TYPES, type EventType } from '../event-types.ts'
import { type FeedSource, Feeds } from '../feed.ts'
import type { ControlHost } from '../host.ts'
import { route } from '../route.ts'
import { eventOf } from './clock.ts'

/** The present instant, rate and revision of a sandbox. */
const sandboxMark = () =>
  z.strictObject({
    sandbox: z.string(),
    /** Virtual instant. */
    now: timestamp(),
    rate: z.number(),
    /** Number of the last commit. */
    revision: z.int(),
  })

const event = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.strictObject({ type: z.literal(type), data })

/** The events in the feed of a sandbox: its own, and `hello`, `dropped` and `end` about the feed itself. */
const sandboxEvent = () =>
  z.discriminatedUnion('type', [
    /** An API request was served. */
    event(
      'request',
      z.strictObject({
        id: z.string(),
        at: timestamp(),
        method: z.string(),
        path: z.string(),
        operation: z.string().nullable(),
        status: z.int(),
        /** Code of the error; null for success. */
        error: z.string().nullable(),
      }),
    ),
    /** An event of the schedule ran. */
    event('event', ranEvent()),
    /** An attempt to deliver a webhook has ended. */
    event('delivery', ranEvent()),
    /** The status of a record has changed. */
    event(
      'transition',
      z.strictObject({
        /** `collection/id`. */
        ref: z.string(),
        from: z.string().exactOptional(),
        to: z.string().exactOptional(),
        at: timestamp(),
      }),
    ),
    /** The clock was set, or its rate or `skip_on_poll` changed. */
    event('clock', z.strictObject({ now: timestamp(), rate: z.number(), skip_on_poll: z.boolean() })),
    /** The next event of the schedule is another one now, or its instant has changed; null when none is left. */
    event('schedule', z.strictObject({ at: timestamp(), next: futureEvent().nullable() })),
    /** A scenario was started, replaced by a newer version, or stopped. */
    event(
      'scenario',
      z.strictObject({ at: timestamp(), active: z.string().nullable(), generation: z.int().nullable() }),
    ),
    /** A request has arrived at a gate, or has gone on; `held`: the number of requests that wait. */
    event('gate', z.strictObject({ at: timestamp(), held: z.int() })),
    /** The whole state was replaced. */
    event('sandbox', sandboxMark()),
    event(
      'hello',
      sandboxMark().extend({
        version: z.string(),
        /** Real instant at which the emulator was started; a different instant means another process. */
        started_at: timestamp(),
        types: z.array(z.enum(EVENT_TYPES)),
      }),
    ),
    event('dropped', z.strictObject({ count: z.int() })),
    event('end', z.strictObject({ reason: z.string() })),
  ])

export type SandboxEvent = ShapeOf<typeof sandboxEvent>

type Data<Type extends SandboxEvent['type']> = Extract<SandboxEvent, { readonly type: Type }>['data']

type Listen<Type extends EventType> = (sandbox: Sandbox, tell: (data: Data<Type>) => void) => () => void

/** How to listen to each type of events. */
const sources: { readonly [Type in EventType]: Listen<Type> } = {
  // Only the code of the error: its detail can quote the request.
  request: ({ log }, tell) =>
    log.onEntry(({ id, at, method, path, operation, status, error }) =>
      tell({ id, at, method, path, operation: operation ?? null, status, error: error?.code ?? null }),
    ),
  event: ({ listeners }, tell) => listeners.onEvent((event) => event.webhook === undefined && tell(event)),
  delivery: ({ listeners }, tell) => listeners.onEvent((event) => event.webhook !== undefined && tell(event)),
  transition: ({ store }, tell) =>
    store.onCommit(({ at, changes }) => {
      for (const change of changes) {
        const { table, id } = change
        const transition = table.startsWith('$') ? undefined : transitionOf(change)
        if (transition !== undefined) tell({ ref: `${table}/${id}`, ...transition, at })
      }
    }),
  clock: (sandbox, tell) =>
    onRow(sandbox, CLOCK, (row) => {
      if (row === undefined) return
      const { now, rate, skip_on_poll } = row as ClockRow
      tell({ now, rate, skip_on_poll })
    }),
  schedule: ({ store, scheduler }, tell) => {
    let told = scheduler.peek()
    return store.onCommit(({ at }) => {
      const next = scheduler.peek()
      if (next === told) return
      told = next
      tell({ at, next: next === undefined ? null : eventOf(next) })
    })
  },
  scenario: (sandbox, tell) =>
    onRow(sandbox, SCENARIO, (row, at) => {
      // Without a row no scenario is active.
      const { name = null, generation = null } = (row ?? {}) as Partial<ScenarioRow>
      tell({ at, active: name, generation })
    }),
  gate: ({ clock, faults: { gates } }, tell) =>
    gates.onChange(() => tell({ at: formatInstant(clock.now), held: gates.size })),
  sandbox: (sandbox, tell) => sandbox.listeners.onReplaced(() => tell(sandboxOf(sandbox))),
}

/** Calls back after each change of a fact of the sandbox. */
function onRow({ store }: Sandbox, row: string, call: (after: Change['after'], at: string) => void) {
  return store.onCommit(({ at, changes }) => {
    for (const { table, id, after } of changes) if (table === SANDBOX_TABLE && id === row) call(after, at)
  })
}

const filter = () =>
  z
    .strictObject({
      types: queryText()
        .superRefine((text, context) => {
          for (const word of text.split(',')) {
            if (EVENT_TYPES.some((type) => type === word)) continue
            const message = `must be one or more of ${EVENT_TYPES.join(', ')}, separated by commas; "${word}" is not one of them.${didYouMean(word, EVENT_TYPES)}`
            context.addIssue({ code: 'custom', message })
          }
        })
        .transform((text) => EVENT_TYPES.filter((type) => text.split(',').includes(type)))
        .meta({ description: `Any of ${EVENT_TYPES.join(', ')}, separated by commas. Default: all of them.` })
        .optional(),
    })
    .prefault({})

const feeds = new Feeds()

/** The route that follows the events of a sandbox. */
export const eventRoutes = [
  route('GET /events', {
    media: 'text/event-stream',
    name: 'events.follow',
    summary: `Follow the events of the sandbox as server-sent events: ${EVENT_TYPES.join(', ')}; types selects some of them`,
    returns:
      'An endless stream: hello first, then each event with an id that counts up within this connection (Last-Event-ID has no effect), dropped with a count when the reader was too slow, and end with a reason when the sandbox is removed or the emulator closes.',
    input: () => ({ query: filter() }),
    output: sandboxEvent,
    handle: ({ host, sandbox, query: { types = EVENT_TYPES } }) => ({
      stream: feeds.open(sourceOf(host, sandbox, types), host.closing),
    }),
  }),
] as const

function sourceOf(host: ControlHost, sandbox: Sandbox, types: readonly EventType[]): FeedSource {
  return {
    hello: () => ({ ...sandboxOf(sandbox), version: host.version, started_at: host.startedAt, types }),
    listen: (tell) => {
      const stops = types.map((type) => sources[type](sandbox, (data) => tell(type, data)))
      return () => {
        for (const stop of stops) stop()
      }
    },
    isThere: () => host.sandboxes.get(sandbox.name) === sandbox,
  }
}

function sandboxOf({ name, clock, store }: Sandbox): Data<'sandbox'> {
  return { sandbox: name, now: formatInstant(clock.now), rate: clock.rate, revision: store.revision }
}
