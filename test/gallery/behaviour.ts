import { expect } from 'vitest'
import type { Shown } from './shown.ts'

/** What a run must show: with the bug, and repaired. */
interface Behaviour {
  readonly broken: (shown: Shown) => void
  readonly repaired: (shown: Shown) => void
}

/** Expects these statuses, and these virtual milliseconds between the requests. */
function expectRequests(
  { statuses, gaps }: Shown,
  expected: readonly number[],
  distances?: readonly number[],
) {
  expect(statuses).toEqual(expected)
  if (distances !== undefined) expect(gaps).toEqual(distances)
}

/** Expects that the one client failed with this message. */
function expectError({ results: [result] }: Shown, message: string | RegExp) {
  expect(result).toHaveProperty('error')
  expect((result as { error: Error }).error.message).toMatch(message)
}

function expectSuccess({ results }: Shown) {
  for (const result of results) expect(result).toHaveProperty('value')
}

function linesOf({ results: [result] }: Shown): { custom_id: string; output: unknown }[] {
  expect(result).toHaveProperty('value')
  return (result as { value: { custom_id: string; output: unknown }[] }).value
}

/** Expects all results, each with its own output. */
function expectAllResults(shown: Shown) {
  const planned = new Map(shown.planned.map(({ custom_id, output }) => [custom_id, output]))
  const lines = linesOf(shown)
  expect(lines.map(({ custom_id }) => custom_id).sort()).toEqual([...planned.keys()].sort())
  for (const { custom_id, output } of lines) expect(output).toEqual(planned.get(custom_id))
}

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value)
}

/** The keys of the requests, in order. */
function keysOf({ requests }: Shown): (string | null)[] {
  return requests.map(({ idempotency_key: key }) => key)
}

const USERS = 23

export const behaviours: Readonly<Record<string, Behaviour>> = {
  'retry-after-as-nan': {
    broken: (shown) => expectRequests(shown, [429, 429, 429, 200], [1, 1, 1]),
    repaired: (shown) => expectRequests(shown, [429, 429, 429, 200], [2000, 4000, 8000]),
  },
  'retry-after-date-as-number': {
    broken: (shown) => expectRequests(shown, [429, 429, 200], [1, 1]),
    repaired: (shown) => expectRequests(shown, [429, 429, 200], [2000, 2000]),
  },
  'long-retry-after-ignored': {
    broken: (shown) => expectRequests(shown, [429, 429, 200], [500, 1000]),
    repaired: (shown) => expectRequests(shown, [429, 429, 200], [61_000, 61_000]),
  },
  'wait-without-cap': {
    broken: (shown) => expectRequests(shown, [429, 200], [31_536_000_000]),
    repaired: (shown) => {
      expectRequests(shown, [429])
      expectError(shown, '31536000 seconds')
    },
  },
  'zero-means-no-retry': {
    broken: (shown) => {
      expectRequests(shown, [429])
      expectError(shown, 'status 429')
    },
    repaired: (shown) => expectRequests(shown, [429, 200], [1]),
  },
  'timer-overflow': {
    broken: (shown) => expectRequests(shown, [429, 429, 429, 200], [1, 1, 1]),
    repaired: (shown) => {
      expectRequests(shown, [429])
      expectError(shown, '2147484 seconds')
    },
  },
  'same-wait-for-all': {
    broken: (shown) => {
      expect(shown.statuses).toEqual([...times(20, 429), ...times(20, 200)])
      expect(new Set(shown.requests.slice(20).map(({ at }) => at)).size).toBe(1)
    },
    repaired: (shown) => {
      expect(shown.statuses).toEqual([...times(20, 429), ...times(20, 200)])
      expect(new Set(shown.requests.slice(20).map(({ at }) => at)).size).toBeGreaterThan(10)
    },
  },
  'zero-retries-ignored': {
    broken: (shown) => {
      expect(shown.requests.map(({ end }) => end)).toEqual(['reset', null])
      expectSuccess(shown)
    },
    repaired: (shown) => {
      expect(shown.requests.map(({ end }) => end)).toEqual(['reset'])
      expectError(shown, 'fetch failed')
    },
  },
  'retries-multiplied': {
    broken: (shown) => {
      expectRequests(shown, times(36, 429))
      expect(Math.min(...shown.gaps)).toBe(2000)
    },
    repaired: (shown) => expectRequests(shown, times(6, 429), times(5, 2000)),
  },
  'every-conflict-repeated': {
    broken: (shown) => {
      expectRequests(shown, [409, 409, 409, 409], [2000, 4000, 8000])
      expect(new Set(keysOf(shown)).size).toBe(1)
    },
    repaired: (shown) => expectRequests(shown, [409]),
  },
  'poll-gives-up': {
    broken: (shown) => {
      expectRequests(shown, [200, 503])
      expectError(shown, '503')
    },
    repaired: (shown) => {
      expectRequests(shown, [200, 503, 200, 200])
      expectSuccess(shown)
    },
  },
  'key-per-attempt': {
    broken: (shown) => {
      expect(new Set(keysOf(shown)).size).toBe(2)
      expect(shown.batches).toBe(2)
    },
    repaired: (shown) => {
      expect(shown.requests).toHaveLength(2)
      expect(new Set(keysOf(shown)).size).toBe(1)
      expect(shown.batches).toBe(1)
    },
  },
  'key-replaced': {
    broken: (shown) => {
      expect(keysOf(shown)).toEqual([expect.any(String), keysOf(shown)[0]])
      expect(keysOf(shown)).not.toContain('order-1')
    },
    repaired: (shown) => expect(keysOf(shown)).toEqual(['order-1', 'order-1']),
  },
  'timed-out-without-key': {
    broken: (shown) => {
      expect(keysOf(shown)).toEqual([null, null])
      expect(shown.batches).toBe(2)
    },
    repaired: (shown) => {
      expect(keysOf(shown)).toEqual(['order-1', 'order-1'])
      expect(shown.batches).toBe(1)
    },
  },
  'empty-body-on-retry': {
    broken: (shown) => {
      expectRequests(shown, [500, 400], [2000])
      expect(shown.requests.map(({ request }) => request?.body === null)).toEqual([false, true])
      expect(keysOf(shown)).toEqual(['order-1', 'order-1'])
    },
    repaired: (shown) => {
      expectRequests(shown, [500, 200], [2000])
      expect(shown.requests[1]?.request?.body).toEqual(shown.requests[0]?.request?.body)
    },
  },
  'timeout-ends-with-head': {
    broken: (shown) => expect(shown.results).toEqual(['pending']),
    repaired: (shown) => expectError(shown, 'the time is over'),
  },
  'cut-body-never-settles': {
    broken: (shown) => {
      expect(shown.results).toEqual(['pending'])
      expect(shown.requests.map(({ end }) => end)).toEqual(['reset'])
    },
    repaired: (shown) => expectError(shown, 'aborted'),
  },
  'stale-connection': {
    broken: (shown) => {
      expectRequests(shown, [200, 0])
      expectError(shown, /ECONNRESET|socket hang up/)
    },
    repaired: (shown) => {
      expectRequests(shown, [200, 0, 200])
      expectSuccess(shown)
    },
  },
  'unread-responses': {
    broken: (shown) => expectRequests(shown, [503, 503, 503, 200], [2000, 2000, 2000]),
    repaired: (shown) => expectRequests(shown, [503, 503, 503, 200], [2000, 2000, 2000]),
  },
  'crlf-split': {
    broken: (shown) => expectError(shown, 'JSON'),
    repaired: expectAllResults,
  },
  'split-characters': {
    broken: (shown) => {
      expect(shown.statuses).toEqual([200])
      expect(JSON.stringify(linesOf(shown))).toContain('\ufffd')
    },
    repaired: expectAllResults,
  },
  'blank-lines': {
    broken: (shown) => expectError(shown, 'JSON'),
    repaired: expectAllResults,
  },
  'last-line-lost': {
    broken: (shown) => expect(linesOf(shown)).toHaveLength(shown.planned.length - 1),
    repaired: expectAllResults,
  },
  'early-end-accepted': {
    broken: (shown) => expect(linesOf(shown)).toHaveLength(1),
    repaired: expectAllResults,
  },
  'empty-page-ends-list': {
    broken: (shown) => {
      expectRequests(shown, [200])
      expect(linesOf(shown)).toEqual([])
    },
    repaired: (shown) => expect(linesOf(shown)).toHaveLength(USERS),
  },
  'repeated-cursor-followed': {
    broken: (shown) => {
      const cursors = shown.requests.map(({ request }) => request?.query.after)
      expect(cursors.length).toBeGreaterThan(10)
      expect(new Set(cursors.slice(2)).size).toBe(1)
    },
    repaired: (shown) => expectError(shown, 'came twice'),
  },
  'unknown-status-polled': {
    broken: (shown) => expect(shown.requests.length).toBeGreaterThan(30),
    repaired: (shown) => expectError(shown, 'unknown status'),
  },
  'new-field-refused': {
    broken: (shown) => {
      expectRequests(shown, [200, 200, 200])
      expectError(shown, 'unknown field next_generation')
      expect(shown.batches).toBe(1)
    },
    repaired: (shown) => {
      expectRequests(shown, [200])
      expectSuccess(shown)
    },
  },
  'only-errors-crash': {
    broken: (shown) => expectError(shown, 'Reduce of empty array'),
    repaired: (shown) => {
      expectSuccess(shown)
      expect(shown.planned.map(({ output }) => output)).toEqual([null, null, null])
    },
  },
  'results-by-position': {
    broken: (shown) => {
      const own = shown.planned.map(({ output }) => output)
      expect(linesOf(shown).map(({ output }) => output)).toEqual(own.toReversed())
    },
    repaired: expectAllResults,
  },
  'html-parsed-as-json': {
    broken: (shown) => {
      expectRequests(shown, [502])
      expectError(shown, 'JSON')
      expect(shown.results[0]).not.toHaveProperty('error.status')
    },
    repaired: (shown) => expect(shown.results[0]).toHaveProperty('error.status', 502),
  },
}
