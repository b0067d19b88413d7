import { expect } from 'vitest'
import type { Shown } from './shown.ts'

/** What a run must show. What is absent is not compared. */
interface Expected {
  readonly ends?: readonly (string | null)[]
  readonly keys?: readonly (string | null)[]
  readonly planned?: readonly { readonly output: unknown }[]
  /** The message of the error of the one client; absent: no client has failed. */
  readonly error?: string | RegExp
  /** Whether the one client has the results of all items, each with its own output. */
  readonly hasAll?: true
  /** What a table cannot say, the outcome included. */
  readonly other?: (shown: Shown) => void
}

export function expectBehaviour(shown: Shown, expected: Expected): void {
  const { requests, results, planned } = shown
  const keys = requests.map(({ idempotency_key: key }) => key)
  const facts = { planned, ends: requests.map(({ end }) => end), keys }
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

const isPending = ({ results }: Shown) => expect(results).toEqual(['pending'])
const hasRows = (count: number) => (shown: Shown) => expect(rowsOf(shown)).toHaveLength(count)
const A_KEY = expect.any(String)

/** What a client does whose verdict only an adapter can say: with its bug, and repaired. */
export const conclusions: Readonly<
  Record<string, { readonly broken: Expected; readonly repaired: Expected }>
> = {
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
  'cut-body-never-settles': {
    broken: { ends: ['reset'], other: isPending },
    repaired: { error: 'aborted' },
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
    broken: { other: ({ results: [result] }) => expect(result).not.toHaveProperty('error.status') },
    repaired: { other: ({ results: [result] }) => expect(result).toHaveProperty('error.status', 502) },
  },
}

/** What the other clients do when they are repaired, unless they succeed. Their bug is in the finding about them. */
export const repaired: Readonly<Record<string, Expected>> = {
  'wait-without-cap': { error: '31536000 seconds' },
  'timer-overflow': { error: '2147484 seconds' },
  'zero-retries-ignored': { error: 'fetch failed' },
  'retries-multiplied': { error: /./ },
  'every-conflict-repeated': { error: /./ },
  'timeout-ends-with-head': { error: 'the time is over' },
  'empty-page-ends-list': { other: hasRows(23) },
  'repeated-cursor-followed': { error: 'came twice' },
  'unknown-status-polled': { error: 'unknown status' },
}
