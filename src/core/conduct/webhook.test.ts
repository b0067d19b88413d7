import { expect, test } from 'vitest'
import { judging, START, type Step } from '../../../test/support/observed-log.ts'

const { codesOn } = judging('webhook.failing', 'webhook.repeated', 'webhook.slow', 'webhook.unverified')

const attempt = (n: number, outcome: string, status: number | null, ms = n * 1_000) => {
  const at = new Date(START + ms).toISOString()
  return { attempt: n, at, outcome, status }
}
const answered = attempt(1, 'delivered', 200)
const refused = attempt(1, 'failed', 500)
const again = attempt(2, 'delivered', 200)
const usual = {
  id: 'd1',
  url: 'http://127.0.0.1:9000/hook',
  ref: 'things/42',
  status: 'delivered',
  faults: null,
}
const delivery = (over: object, ...attempts: object[]) => ({ ...usual, attempts, ...over })
const failed = delivery({ status: 'failed' }, refused, attempt(2, 'failed', 500))
const slow = attempt(1, 'timeout', null)
const signed = (sign: string) => ({ faults: { rules: ['x'], sign } })
const cutShort = { status: 'waiting', faults: { rules: ['x'], timeout_ms: 1 } }

test.for<[what: string, delivery: object, expected: string[]]>([
  ['a receiver that responds', delivery({}, answered), []],
  ['a receiver that takes too long', delivery({}, slow, again), ['warning webhook.slow']],
  ['a timeout that a fault has shortened', delivery(cutShort, slow), []],
  ['a receiver that refuses to the end', failed, ['warning webhook.failing']],
  ['a receiver that refuses once', delivery({}, refused, again), []],
  ['no receiver at all', delivery({ status: 'failed' }, attempt(1, 'failed', null)), []],
  ['a wrong signature that is accepted', delivery(signed('wrong'), answered), ['warning webhook.unverified']],
  ['a refused stale one', delivery({ ...signed('old'), status: 'waiting' }, { ...refused, status: 401 }), []],
  ['the built-in inbox', delivery(signed('wrong'), { ...answered, received: {} }), []],
])('%s', ([, given, expected]) => {
  expect(codesOn([], {}, { deliveries: [given] })).toEqual(expected)
})

const create = (ms: number, id: string, name = 'Results of 42'): Step => ({
  body: { name },
  at: ms,
  created: [`pages/${id}`],
})
const copy = { id: 'd2', faults: { rules: ['x'], copy_of: 'd1' } }
const twice = [delivery({}, answered), delivery(copy, attempt(1, 'delivered', 200, 2_000))]

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['an effect for each copy', [create(1_010, '1'), create(2_010, '2')], ['warning webhook.repeated']],
  ['one effect', [create(1_010, '1')], []],
  ['two effects after one arrival', [create(2_010, '1'), create(2_020, '2')], []],
  ['two effects about another record', [create(1_010, '1', 'a'), create(2_010, '2', 'a')], []],
])('a webhook that arrives twice: %s', ([, steps, expected]) => {
  expect(codesOn(steps, {}, { deliveries: twice })).toEqual(expected)
})
