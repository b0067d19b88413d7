import { z } from 'zod'
import { type InputOf, intBetween, type ShapeOf } from '../../../core/fields.ts'
import type { LogEntry } from '../../../core/log/request-log.ts'
import { compare, matches, matchSchema, missed, type RequestMatch } from '../../../core/log/request-match.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { Service } from '../../../core/service.ts'
import { entriesSince, explainPath } from '../request-entry.ts'
import { type ControlReply, route } from '../route.ts'
import { waitIn } from '../wait.ts'

/** Maximum number of requests in `nearest` of a failed check. */
const NEAREST = 3

/** Maximum number of requests to wait for: the default capacity of a log. */
const MAX_REQUESTS = 1_000

/** Default length of a wait, in real milliseconds. */
const WAIT = 5_000

/** The longest wait, in real milliseconds. */
const MAX_WAIT = 600_000

const number = () => intBetween(0, 100_000).optional()

/** The expected number of requests; every given field must hold. */
const requestCount = () =>
  z
    .strictObject({ at_least: number(), at_most: number(), exactly: number() })
    .refine(({ at_least, at_most, exactly }) => {
      if (exactly !== undefined) return at_least === undefined && at_most === undefined
      return at_least !== undefined || at_most !== undefined
    }, 'must have exactly, or at_least, or at_most, or both at_least and at_most')
    .refine(({ at_least = 0, at_most = Infinity }) => at_least <= at_most, {
      error: 'must not be more than at_most',
      path: ['at_least'],
    })

export type RequestCount = InputOf<typeof requestCount>

const needed = () => intBetween(1, MAX_REQUESTS)

const waitedFor = () =>
  z.union([needed(), z.strictObject({ at_least: needed() })], {
    error: `must be a number of requests from 1 to ${MAX_REQUESTS}, or {"at_least": number}`,
  })

/** A request that does not match, and the fields in which it differs. */
const nearRequest = () =>
  z.strictObject({
    id: z.string(),
    method: z.string(),
    path: z.string(),
    status: z.int(),
    missed: z.array(missed()),
    /** Path that explains the request. */
    explain: z.string(),
  })

export type NearestRequest = ShapeOf<typeof nearRequest>

/** Whether requests have come as expected. */
const requestCheck = () =>
  z.strictObject({
    passed: z.boolean(),
    /** Number of requests that matched. */
    actual: z.int(),
    expected: requestCount(),
    /** Ids of the requests that matched. */
    matched: z.array(z.string()),
    /** Only of a check that has not passed: the requests that are nearest to the match. */
    nearest: z.array(nearRequest()).exactOptional(),
    /** Only of a wait that has not passed: whether its time was over, and the reason in words. */
    timed_out: z.boolean().exactOptional(),
    description: z.string().exactOptional(),
  })

export type RequestCheck = ShapeOf<typeof requestCheck>

/** Checks of the log of API requests. */
export const requestCheckRoutes = (service: Service) => {
  const match = () => matchSchema(service, { since: z.string().optional() })
  return [
    route('POST /requests/verify', {
      name: 'requests.verify',
      unrecorded: true,
      summary: 'Check whether matching requests have come (count, default at least one)',
      returns:
        'passed, and the ids that matched; 409 with the nearest requests when the check has not passed.',
      success: [200, 409],
      input: () => ({ body: z.strictObject({ match: match(), count: requestCount().optional() }) }),
      output: requestCheck,
      handle: ({ sandbox, body: { match, count = { at_least: 1 } } }) => verify(sandbox, match, count),
    }),
    route('POST /requests/wait', {
      name: 'requests.wait',
      unrecorded: true,
      summary: 'Wait until matching requests have come (count, default 1), those already in the log included',
      returns: 'passed, and the ids that matched; 409 with the nearest requests when the time is over.',
      success: [200, 409],
      input: () => ({
        body: z.strictObject({
          match: match(),
          count: waitedFor().default(1),
          timeout_ms: intBetween(1, MAX_WAIT).default(WAIT),
        }),
      }),
      output: requestCheck,
      handle: async ({ host: { closing }, sandbox, gone, body: { match, count, timeout_ms: ms } }) => {
        const at_least = typeof count === 'number' ? count : count.at_least
        return waitFor(sandbox, match, { at_least, ms }, { gone, closing })
      },
    }),
  ] as const
}

/** The requests to search for. `since`: from this virtual instant on, or after the request with this id. */
export type RequestSearch = RequestMatch & { readonly since?: string | undefined }

// A page that was refused has not sent the request that its preflight announced.
function isMatch(match: RequestMatch, entry: LogEntry): boolean {
  if (entry.cors?.isPreflight === true && match.method?.toUpperCase() !== entry.method) return false
  return matches(match, entry)
}

function verify(
  sandbox: Sandbox,
  { since, ...match }: RequestSearch,
  expected: RequestCount,
): ControlReply<RequestCheck> {
  const entries = entriesSince(sandbox, since, '/match/since')
  const matched = entries.filter((entry) => isMatch(match, entry)).map(({ id }) => id)
  const passed = fits(matched.length, expected)
  const result = { passed, actual: matched.length, expected, matched }
  if (passed) return { body: result }
  const tooFew = matched.length < (expected.exactly ?? expected.at_least ?? 0)
  return { status: 409, body: { ...result, nearest: tooFew ? nearest(entries, match) : [] } }
}

function fits(actual: number, { exactly, at_least = 0, at_most = Infinity }: RequestCount): boolean {
  return exactly === undefined ? actual >= at_least && actual <= at_most : actual === exactly
}

const DESCRIPTION = {
  'timed out': (ms: number) => `Not enough matching requests came within ${ms} ms.`,
  replaced: () => 'The state of the sandbox was replaced during the wait, and its request log with it.',
  removed: () => 'The sandbox was removed during the wait.',
  closing: () => 'The emulator is closing.',
  gone: () => 'The client has disconnected.',
}

// A timeout has the status 409 like a failed verify: a client may repeat a request automatically after a 408.
async function waitFor(
  sandbox: Sandbox,
  { since, ...match }: RequestSearch,
  { at_least, ms }: { readonly at_least: number; readonly ms: number },
  signals: Parameters<typeof waitIn>[2],
): Promise<ControlReply<RequestCheck>> {
  const seen = entriesSince(sandbox, since, '/match/since')
  const matched = seen.filter((entry) => isMatch(match, entry)).map(({ id }) => id)
  const hasCome = () => matched.length >= at_least
  const ended = await waitIn(sandbox, ms, signals, hasCome, (check) => [
    sandbox.log.onEntry((entry) => {
      seen.push(entry)
      if (seen.length > sandbox.log.capacity) seen.shift()
      if (isMatch(match, entry)) matched.push(entry.id)
      check()
    }),
  ])
  const result = { passed: ended === 'come', actual: matched.length, expected: { at_least }, matched }
  if (ended === 'come') return { body: result }
  return {
    status: 409,
    body: {
      ...result,
      timed_out: ended === 'timed out',
      description: DESCRIPTION[ended](ms),
      nearest: nearest(seen, match),
    },
  }
}

/** The requests that are nearest to a match, and the fields in which they differ. Newer requests come first if equally near. */
function nearest(entries: readonly LogEntry[], match: RequestMatch): NearestRequest[] {
  const compared = entries.map((entry) => ({ entry, missed: compare(match, entry).missed }))
  return compared
    .filter(({ missed }) => missed.length > 0)
    .reverse()
    .sort((a, b) => a.missed.length - b.missed.length)
    .slice(0, NEAREST)
    .map(({ entry: { id, method, path, status }, missed }) => {
      return { id, method, path, status, missed, explain: explainPath(id) }
    })
}
