import * as z from 'zod'
import { didYouMean } from '../../../core/assumptions.ts'
import { queryText } from '../../../core/fields.ts'
import type { LogEntry } from '../../../core/log/request-log.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { SCENARIO, type ScenarioRow } from '../../../core/scenarios/row.ts'
import { type Change, type Commit, transitionOf } from '../../../core/state/commit.ts'
import { CLOCK, SANDBOX_TABLE } from '../../../core/state/state.ts'
import type { ClockRow } from '../../../core/time/clock.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import { type FeedSource, Feeds } from '../feed.ts'
import type { ControlHost } from '../host.ts'
import { route } from '../route.ts'

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

type FeedType = keyof typeof sources

const TYPES = Object.keys(sources) as readonly FeedType[]

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
    answers:
      'A stream without an end: hello first, then each event with an id that counts up within this connection (an earlier Last-Event-ID means nothing), dropped with a count when the reader was too slow, and end with a reason when the sandbox or the emulator goes.',
    query: filter,
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

function sourceOf(host: ControlHost, sandbox: Sandbox, types: readonly FeedType[]): FeedSource {
  return {
    hello: () => ({ ...sandboxOf(sandbox), version: host.version, types }),
    listen: (tell) => {
      const stops = types.map((type) => sources[type](sandbox, (data) => tell(type, data)))
      return () => {
        for (const stop of stops) stop()
      }
    },
    isThere: () => host.sandboxes.get(sandbox.name) === sandbox,
  }
}

function sandboxOf({ name, clock, store }: Sandbox) {
  return { sandbox: name, now: formatInstant(clock.now), rate: clock.rate, revision: store.revision }
}

function clockOf({ now, rate, skip_on_poll }: ClockRow) {
  return { now, rate, skip_on_poll }
}

// It was started, swapped for a newer version of its script, or stopped.
function scenarioOf(at: string, row: ScenarioRow | undefined) {
  return { at, active: row?.name ?? null, generation: row?.generation ?? null }
}

// The error by its code alone: what was wrong can quote what was sent.
function requestOf({ id, at, method, path, operation, status, error }: LogEntry) {
  return { id, at, method, path, operation: operation ?? null, status, error: error?.code ?? null }
}

function tellTransition(change: Change, { at }: Commit, tell: Hear): void {
  const { table, id } = change
  const transition = transitionOf(change)
  if (transition !== undefined && !table.startsWith('$')) tell({ ref: `${table}/${id}`, ...transition, at })
}
