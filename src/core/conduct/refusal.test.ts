import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { judging, type Step } from '../../../test/support/observed-log.ts'

const { codesOn, reportOn } = judging('retry.pointless')

const list: Step = { operation: 'agents.list' }
const create: Step = { body: { name: 'a' } }

const at = (step: Step, ...instants: number[]): Step[] =>
  instants.map((real) => ({ ...step, real, at: real }))

/** The same request after each of these waits, in milliseconds. */
function after(step: Step, waits: readonly number[], start = 0): Step[] {
  let real = start
  return [step, ...waits.map(() => step)].map((each, n) => {
    real += n === 0 ? 0 : (waits[n - 1] ?? 0) + 1
    return { ...each, real, at: real }
  })
}

const times = (count: number, wait: number) => Array.from({ length: count }, () => wait)

const conflict: Step = { key: 'k', status: 409, code: 'idempotency_key_reused', body: { a: 1 } }
const invalid: Step = { ...create, status: 400, code: 'validation_failed' }

test.for<[what: string, steps: Step[], retries: number | undefined, expected: string[]]>([
  ['a conflict of keys once more', [conflict, conflict], undefined, []],
  ['a conflict of keys twice more', [conflict, conflict, conflict], undefined, ['warning retry.pointless']],
  ['an invalid request by a client with retries', at(invalid, 0, 1_000), 2, ['warning retry.pointless']],
  ['an invalid request three times', at(invalid, 0, 1_000, 3_000), undefined, ['warning retry.pointless']],
  ['two tests that expect the same refusal', at(invalid, 0, 1_000), undefined, []],
  ['a conflict that ends', [{ ...conflict, code: 'idempotency_key_in_use' }, conflict], undefined, []],
  ['an object that may be created in between', at({ ...list, status: 404 }, 0, 1_000, 3_000), 2, []],
  ['a corrected request', [invalid, { ...create, body: { name: 'b' } }], 2, []],
  ['a refusal that can change', at({ ...list, status: 429 }, 0, 1_000), 2, []],
])('retry.pointless: %s', ([, steps, retries, expected]) => {
  expect(codesOn(steps, { retries })).toEqual(expected)
})

const path = '/v1/batch-predictions/b'
const poll: Step = { operation: 'batch-predictions.retrieve', path, params: { batch_prediction_id: 'b' } }
const good: Step = { ...poll, response: { id: 'b', status: 'in_progress' } }
const missing: Step = { ...poll, status: 404 }

test.for([10, 100, 1_000, 5_000, 60_000])('a deleted record that is polled on every %i ms', (pace) => {
  const polls = after(good, times(2, pace))
  const steps = (more: number) => [...polls, ...after(missing, times(more, pace), 3 * (pace + 1))]
  expect(codesOn(steps(39))).toEqual(['warning retry.pointless'])
  expect(codesOn(steps(3))).toEqual([])
  expect(reportOn(steps(39)).data[0]?.message).toContain('had answered before; the client sent it 40 times')
})

test.for<[what: string, waits: number[], expected: string[]]>([
  ['once a second for a minute', times(60, 1_000), []],
  ['once a second for longer', times(61, 1_000), ['warning retry.pointless']],
  ['every 20 seconds for ten minutes', times(29, 20_000), []],
  ['every 20 seconds for longer', times(31, 20_000), ['warning retry.pointless']],
  ['five times, every 100 ms', times(5, 100), []],
  ['six times, every 100 ms', times(6, 100), ['warning retry.pointless']],
  ['five times with waits that double from 10 ms', [10, 20, 40, 80, 160], []],
  ['after five quick reads once a second', [...times(5, 100), ...times(20, 1_000)], []],
  ['three times without a pause', times(3, 2), ['warning retry.pointless']],
  ['twice without a pause, as in two tests', times(1, 2), []],
])('a record that has never answered, read %s', ([, waits, expected]) => {
  expect(codesOn(after(missing, waits))).toEqual(expected)
})

test.for<[status: number, code: string | undefined, body: object | undefined, free: number]>([
  [401, undefined, undefined, 1],
  [403, undefined, undefined, 1],
  [409, 'idempotency_key_reused', undefined, 1],
  [409, 'name_taken', { retryable: false }, 1],
  [409, 'name_taken', { retryable: true }, 5],
])('%i %s may be repeated as often as the table says', ([status, code, body, free]) => {
  const refused: Step = { ...create, status, ...(code && { code }), ...(body && { response: body as never }) }
  expect(codesOn(after(refused, times(free, 2_000)))).toEqual([])
  const more = free === 5 ? [] : ['warning retry.pointless']
  expect(codesOn(after(refused, times(free + 1, 2_000)))).toEqual(more)
})

test('a client that sends another key after each 401 is right', () => {
  const steps = Array.from({ length: 6 }, (_, n): Step => ({ ...list, status: 401, credential: `key ${n}` }))
  expect(codesOn([...steps, list])).toEqual([])
  const same = steps.map((step) => ({ ...step, credential: 'old' }))
  expect(codesOn(same)).toEqual(['warning retry.pointless'])
})

test('no pace with waits of a second or longer is wrong within the bounds, and every pace beyond them is', () => {
  const waits = fc.array(fc.integer({ min: 1_000, max: 8_000 }), { maxLength: 60 })
  forAll(waits, (paces) => {
    expect(codesOn(after(missing, paces))).toEqual([])
  })
  const beyond = fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 61, maxLength: 80 })
  forAll(beyond, (paces) => {
    expect(codesOn(after(missing, paces))).toEqual(['warning retry.pointless'])
  })
})
