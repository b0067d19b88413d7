import { expect, test } from 'vitest'
import { judging, START, type Step } from '../../../test/support/observed-log.ts'

const { codesOn } = judging('webhook.failing', 'webhook.repeated', 'webhook.slow', 'webhook.unverified')

const at = (ms: number) => new Date(START + ms).toISOString()
const attempt = (n: number, outcome: string, status: number | null, ms = n * 1_000) => ({
  attempt: n,
  at: at(ms),
  outcome,
  status,
})
const delivery = (over: object) => ({
  id: 'd1',
  url: 'http://127.0.0.1:9000/hook',
  ref: 'things/42',
  status: 'delivered',
  faults: null,
  attempts: [attempt(1, 'delivered', 200)],
  ...over,
})

test.for<[what: string, deliveries: object[], expected: string[]]>([
  ['a receiver that responds', [delivery({})], []],
  [
    'a receiver that takes too long',
    [delivery({ attempts: [attempt(1, 'timeout', null), attempt(2, 'delivered', 200)] })],
    ['warning webhook.slow'],
  ],
  [
    'a timeout that a fault has shortened',
    [
      delivery({
        faults: { rules: ['x'], timeout_ms: 1 },
        attempts: [attempt(1, 'timeout', null)],
        status: 'waiting',
      }),
    ],
    [],
  ],
  [
    'a receiver that refuses to the end',
    [delivery({ status: 'failed', attempts: [attempt(1, 'failed', 500), attempt(2, 'failed', 500)] })],
    ['warning webhook.failing'],
  ],
  [
    'a receiver that refuses once',
    [delivery({ attempts: [attempt(1, 'failed', 500), attempt(2, 'delivered', 200)] })],
    [],
  ],
  ['no receiver at all', [delivery({ status: 'failed', attempts: [attempt(1, 'failed', null)] })], []],
  [
    'a wrong signature that is accepted',
    [delivery({ faults: { rules: ['x'], sign: 'wrong' } })],
    ['warning webhook.unverified'],
  ],
  [
    'a stale signature that is refused',
    [
      delivery({
        faults: { rules: ['x'], sign: 'old' },
        status: 'waiting',
        attempts: [attempt(1, 'failed', 401)],
      }),
    ],
    [],
  ],
  [
    'the built-in inbox',
    [
      delivery({
        faults: { rules: ['x'], sign: 'wrong' },
        attempts: [{ ...attempt(1, 'delivered', 200), received: {} }],
      }),
    ],
    [],
  ],
])('%s', ([, deliveries, expected]) => {
  expect(codesOn([], {}, { deliveries })).toEqual(expected)
})

const create = (ms: number, id: string): Step => ({
  body: { name: 'Results of 42' },
  at: ms,
  created: [`pages/${id}`],
})
const twice = [
  delivery({}),
  delivery({
    id: 'd2',
    faults: { rules: ['x'], copy_of: 'd1' },
    attempts: [attempt(1, 'delivered', 200, 2_000)],
  }),
]

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['an effect for each copy', [create(1_010, '1'), create(2_010, '2')], ['warning webhook.repeated']],
  ['one effect', [create(1_010, '1')], []],
  ['two effects after one arrival', [create(2_010, '1'), create(2_020, '2')], []],
  [
    'two effects about another record',
    [1_010, 2_010].map((ms) => ({ ...create(ms, `${ms}`), body: { name: 'a' } })),
    [],
  ],
])('a webhook that arrives twice: %s', ([, steps, expected]) => {
  expect(codesOn(steps, {}, { deliveries: twice })).toEqual(expected)
})
