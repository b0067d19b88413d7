import * as z from 'zod'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { queryText, type ShapeOf, timestamp } from '../../../core/fields.ts'
import type { LogEntry } from '../../../core/log/request-log.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { SCENARIO, type ScenarioRow } from '../../../core/scenarios/row.ts'
import { type Change, type Commit, transitionOf } from '../../../core/state/commit.ts'
import { CLOCK, SANDBOX_TABLE } from '../../../core/state/state.ts'
import type { ClockRow } from '../../../core/time/clock.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import { ranEvent } from '../../../core/time/scheduler.ts'
import { type FeedSource, Feeds } from '../feed.ts'
import type { ControlHost } from '../host.ts'
import { route } from '../route.ts'

/** Where a sandbox stands. */
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

/** What the feed of a sandbox tells: what happens, and `hello`, `dropped` and `end` about the feed itself. */
const sandboxEvent = () =>
  z.discriminatedUnion('type', [
    /** An API request was answered. */
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
    /** An attempt to deliver a webhook is over. */
    event('delivery', ranEvent()),
    /** A record has another status. */
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
    /** The clock was set, or passes otherwise. */
    event('clock', z.strictObject({ now: timestamp(), rate: z.number(), skip_on_poll: z.boolean() })),
    /** A scenario was started, swapped for a newer version, or stopped. */
    event(
      'scenario',
      z.strictObject({ at: timestamp(), active: z.string().nullable(), generation: z.int().nullable() }),
    ),
    /** The whole state was replaced. */
    event('sandbox', sandboxMark()),
    event(
      'hello',
      sandboxMark().extend({
        version: z.string(),
        /** Real instant at which the emulator was started: another one is another process. */
        started_at: timestamp(),
        types: z.array(z.enum(TYPES)),
      }),
    ),
    event('dropped', z.strictObject({ count: z.int() })),
    event('end', z.strictObject({ reason: z.string() })),
  ])

export type SandboxEvent = ShapeOf<typeof sandboxEvent>

type Data<Type extends SandboxEvent['type']> = Extract<SandboxEvent, { readonly type: Type }>['data']

type Hear = (data: object) => void

/** What can be listened to, and how. */
const sources = {
  request: ({ log }: Sandbox, tell: Hear) => log.onEntry((entry) => tell(requestOf(entry))),
  event: (sandbox: Sandbox, tell: Hear) =>
    sandbox.onEvent((event) => {
      if (event.webhook === undefined) tell(event)
    }),
  delivery: (sandbox: Sandbox, tell: Hear) =>
    sandbox.onEvent((event) => {
      if (event.webhook !== undefined) tell(event)
    }),
  transition: ({ store }: Sandbox, tell: Hear) =>
    store.onCommit((commit) => {
      for (const change of commit.changes) tellTransition(change, commit, tell)
    }),
  clock: ({ store }: Sandbox, tell: Hear) =>
    store.onCommit(({ changes }) => {
      for (const { table, id, after } of changes) {
        if (table === SANDBOX_TABLE && id === CLOCK && after !== undefined) tell(clockOf(after as ClockRow))
      }
    }),
  scenario: ({ store }: Sandbox, tell: Hear) =>
    store.onCommit(({ at, changes }) => {
      for (const { table, id, after } of changes) {
        if (table === SANDBOX_TABLE && id === SCENARIO) tell(scenarioOf(at, after as ScenarioRow | undefined))
      }
    }),
  sandbox: (sandbox: Sandbox, tell: Hear) => sandbox.onReplaced(() => tell(sandboxOf(sandbox))),
}

/** A type of event that can be asked for. */
export type EventType = keyof typeof sources

const TYPES = Object.keys(sources) as readonly EventType[]

const filter = () =>
  z
    .strictObject({
      types: queryText()
        .superRefine((text, context) => {
          for (const word of text.split(',')) {
            if (TYPES.some((type) => type === word)) continue
            const message = `must be of ${TYPES.join(', ')}, separated by commas, and "${word}" is none.${didYouMean(word, TYPES)}`
            context.addIssue({ code: 'custom', message })
          }
        })
        .transform((text) => TYPES.filter((type) => text.split(',').includes(type)))
        .meta({ description: `Any of ${TYPES.join(', ')}, separated by commas; all of them when left out.` })
        .optional(),
    })
    .prefault({})

const feeds = new Feeds()

/** What happens in a sandbox, while it happens. */
export const eventRoutes = [
  route({
    media: 'text/event-stream',
    name: 'events.follow',
    method: 'GET',
    path: '/events',
    summary: `Follow what happens in the sandbox as server-sent events: ${TYPES.join(', ')}, or those named by types`,
    returns:
      'A stream without an end: hello first, then each event with an id that counts up within this connection (an earlier Last-Event-ID means nothing), dropped with a count when the reader was too slow, and end with a reason when the sandbox or the emulator goes.',
    input: () => ({ query: filter() }),
    output: sandboxEvent,
    handle: ({ host, sandbox, query: { types = TYPES }, gone }) => {
      const write = feeds.open(sourceOf(host, sandbox, types), { gone, closing: host.closing })
      return {
        stream: (res) => {
          res.setHeader('Date', new Date(sandbox.clock.now).toUTCString())
          write(res)
        },
      }
    },
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

function clockOf({ now, rate, skip_on_poll }: ClockRow): Data<'clock'> {
  return { now, rate, skip_on_poll }
}

// It was started, swapped for a newer version of its script, or stopped.
function scenarioOf(at: string, row: ScenarioRow | undefined): Data<'scenario'> {
  return { at, active: row?.name ?? null, generation: row?.generation ?? null }
}

// The error by its code alone: what was wrong can quote what was sent.
function requestOf({ id, at, method, path, operation, status, error }: LogEntry): Data<'request'> {
  return { id, at, method, path, operation: operation ?? null, status, error: error?.code ?? null }
}

function tellTransition(change: Change, { at }: Commit, tell: Hear): void {
  const { table, id } = change
  const transition = transitionOf(change)
  if (transition !== undefined && !table.startsWith('$')) tell({ ref: `${table}/${id}`, ...transition, at })
}
