import { expect } from 'vitest'
import type { Shown } from './shown.ts'

/** What a run must show. What is absent is not compared. */
interface Expected {
  readonly statuses?: readonly number[]
  readonly gaps?: readonly number[]
  readonly ends?: readonly (string | null)[]
  readonly keys?: readonly (string | null)[]
  readonly batches?: number
  readonly planned?: readonly { readonly output: unknown }[]
  /** The message of the error of the one client; absent: no client has failed. */
  readonly error?: string | RegExp
  /** Whether the one client has the results of all items, each with its own output. */
  readonly hasAll?: true
  /** What a table cannot say, the outcome included. */
  readonly other?: (shown: Shown) => void
}

interface Behaviour {
  readonly broken: Expected
  readonly repaired: Expected
}

export function expectBehaviour(shown: Shown, expected: Expected): void {
  const { requests, results, planned } = shown
  const keys = requests.map(({ idempotency_key: key }) => key)
  const facts = { ...shown, ends: requests.map(({ end }) => end), keys }
  const { error, hasAll, other, ...rest } = expected
  expect(facts).toMatchObject(rest)
  if (hasAll) expect(sorted(rowsOf(shown))).toEqual(sorted(planned))
  other?.(shown)
  if (other !== undefined) return
  if (error === undefined) for (const result of results) expect(result).toHaveProperty('value')
  else expect((results[0] as { error: Error }).error.message).toMatch(error)
}

interface Row {
  readonly custom_id: string
  readonly output: unknown
}

const rowsOf = ({ results: [result] }: Shown) => (result as { value: readonly Row[] }).value

const sorted = (rows: readonly Row[]) =>
  rows.map(({ custom_id, output }) => JSON.stringify([custom_id, output])).sort()

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

/** The number of different instants at which twenty clients came back. */
const instants = ({ requests }: Shown) => new Set(requests.slice(20).map(({ at }) => at)).size

const isPending = ({ results }: Shown) => expect(results).toEqual(['pending'])
const hasRows = (count: number) => (shown: Shown) => expect(rowsOf(shown)).toHaveLength(count)
const TWENTY = [...times(20, 429), ...times(20, 200)]
const A_KEY = expect.any(String)

export const behaviours: Readonly<Record<string, Behaviour>> = {
  'retry-after-as-nan': {
    broken: { statuses: [429, 429, 429, 200], gaps: [1, 1, 1] },
    repaired: { statuses: [429, 429, 429, 200], gaps: [2000, 4000, 8000] },
  },
  'retry-after-date-as-number': {
    broken: { statuses: [429, 429, 200], gaps: [1, 1] },
    repaired: { statuses: [429, 429, 200], gaps: [2000, 2000] },
  },
  'long-retry-after-ignored': {
    broken: { statuses: [429, 429, 200], gaps: [500, 1000] },
    repaired: { statuses: [429, 429, 200], gaps: [61_000, 61_000] },
  },
  'wait-without-cap': {
    broken: { statuses: [429, 200], gaps: [31_536_000_000] },
    repaired: { statuses: [429], error: '31536000 seconds' },
  },
  'zero-means-no-retry': {
    broken: { statuses: [429], error: 'status 429' },
    repaired: { statuses: [429, 200], gaps: [1] },
  },
  'timer-overflow': {
    broken: { statuses: [429, 429, 429, 200], gaps: [1, 1, 1] },
    repaired: { statuses: [429], error: '2147484 seconds' },
  },
  'same-wait-for-all': {
    broken: { statuses: TWENTY, other: (shown) => expect(instants(shown)).toBe(1) },
    repaired: { statuses: TWENTY, other: (shown) => expect(instants(shown)).toBeGreaterThan(10) },
  },
  'zero-retries-ignored': {
    broken: { ends: ['reset', null] },
    repaired: { ends: ['reset'], error: 'fetch failed' },
  },
  'retries-multiplied': {
    broken: { statuses: times(36, 429), other: ({ gaps }) => expect(Math.min(...gaps)).toBe(2000) },
    repaired: { statuses: times(6, 429), gaps: times(5, 2000), error: /./ },
  },
  'every-conflict-repeated': {
    broken: {
      statuses: [409, 409, 409, 409],
      gaps: [2000, 4000, 8000],
      other: ({ requests }) => expect(new Set(requests.map((each) => each.idempotency_key)).size).toBe(1),
    },
    repaired: { statuses: [409], error: /./ },
  },
  'poll-gives-up': {
    broken: { statuses: [200, 503], error: '503' },
    repaired: { statuses: [200, 503, 200, 200] },
  },
  'key-per-attempt': {
    broken: {
      batches: 2,
      other: ({ requests: [first, second] }) =>
        expect(first?.idempotency_key).not.toBe(second?.idempotency_key),
    },
    repaired: {
      batches: 1,
      other: ({ requests: [first, second] }) => expect(first?.idempotency_key).toBe(second?.idempotency_key),
    },
  },
  'key-replaced': {
    broken: {
      keys: [A_KEY, A_KEY],
      other: ({ requests: [first, second] }) => {
        expect(first?.idempotency_key).toBe(second?.idempotency_key)
        expect(first?.idempotency_key).not.toBe('order-1')
      },
    },
    repaired: { keys: ['order-1', 'order-1'] },
  },
  'timed-out-without-key': {
    broken: { keys: [null, null], batches: 2 },
    repaired: { keys: ['order-1', 'order-1'], batches: 1 },
  },
  'empty-body-on-retry': {
    broken: {
      statuses: [500, 400],
      gaps: [2000],
      keys: ['order-1', 'order-1'],
      other: ({ requests }) =>
        expect(requests.map(({ request }) => request?.body === null)).toEqual([false, true]),
    },
    repaired: {
      statuses: [500, 200],
      gaps: [2000],
      other: ({ requests: [first, second] }) => expect(second?.request?.body).toEqual(first?.request?.body),
    },
  },
  'timeout-ends-with-head': {
    broken: { other: isPending },
    repaired: { error: 'the time is over' },
  },
  'cut-body-never-settles': {
    broken: { ends: ['reset'], other: isPending },
    repaired: { error: 'aborted' },
  },
  'stale-connection': {
    broken: { statuses: [200, 0], error: /ECONNRESET|socket hang up/ },
    repaired: { statuses: [200, 0, 200] },
  },
  'unread-responses': {
    broken: { statuses: [503, 503, 503, 200], gaps: [2000, 2000, 2000] },
    repaired: { statuses: [503, 503, 503, 200], gaps: [2000, 2000, 2000] },
  },
  'crlf-split': { broken: { error: 'JSON' }, repaired: { hasAll: true } },
  'split-characters': {
    broken: { other: (shown) => expect(JSON.stringify(rowsOf(shown))).toContain('\ufffd') },
    repaired: { hasAll: true },
  },
  'blank-lines': { broken: { error: 'JSON' }, repaired: { hasAll: true } },
  'last-line-lost': {
    broken: { other: (shown) => hasRows(shown.planned.length - 1)(shown) },
    repaired: { hasAll: true },
  },
  'early-end-accepted': { broken: { other: hasRows(1) }, repaired: { hasAll: true } },
  'empty-page-ends-list': {
    broken: { statuses: [200], other: hasRows(0) },
    repaired: { other: hasRows(23) },
  },
  'repeated-cursor-followed': {
    broken: {
      other: ({ requests }) => {
        expect(requests.length).toBeGreaterThan(10)
        expect(new Set(requests.slice(2).map(({ request }) => request?.query.after)).size).toBe(1)
      },
    },
    repaired: { error: 'came twice' },
  },
  'unknown-status-polled': {
    broken: { other: ({ requests }) => expect(requests.length).toBeGreaterThan(30) },
    repaired: { error: 'unknown status' },
  },
  'new-field-refused': {
    broken: { statuses: [200, 200, 200], batches: 1, error: 'unknown field next_generation' },
    repaired: { statuses: [200] },
  },
  'only-errors-crash': {
    broken: { error: 'Reduce of empty array' },
    repaired: { planned: [{ output: null }, { output: null }, { output: null }] },
  },
  'results-by-position': {
    broken: {
      other: (shown) =>
        expect(rowsOf(shown).map(({ output }) => output)).toEqual(
          shown.planned.map(({ output }) => output).toReversed(),
        ),
    },
    repaired: { hasAll: true },
  },
  'html-parsed-as-json': {
    broken: {
      statuses: [502],
      other: ({ results: [result] }) => expect(result).not.toHaveProperty('error.status'),
    },
    repaired: { other: ({ results: [result] }) => expect(result).toHaveProperty('error.status', 502) },
  },
}
