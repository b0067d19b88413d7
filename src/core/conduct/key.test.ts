import { expect, test } from 'vitest'
import { judging, type Step } from '../../../test/support/observed-log.ts'

const { codesOn, reportOn } = judging(
  'body.changed',
  'evolve.unknown-value',
  'key.changed',
  'key.missing',
  'key.reused',
)

const batch: Step = { operation: 'batch-predictions.create', body: { prompt: 'a' } }
const lost: Step = { ...batch, status: 0, created: ['things/1'] }
const page: Step = { body: { name: 'a' } }

const only = (code: string, ...given: Parameters<typeof codesOn>) =>
  codesOn(...given).filter((each) => each.endsWith(code))

test.for<[what: string, steps: Step[], expected: string[]]>([
  [
    'a new key for each attempt, and two records',
    [
      { ...lost, key: 'a' },
      { ...batch, key: 'b', created: ['things/2'] },
    ],
    ['error key.changed'],
  ],
  [
    'a new key for each attempt without a second record',
    [
      { ...batch, status: 0, key: 'a' },
      { ...batch, key: 'b' },
    ],
    ['warning key.changed'],
  ],
  [
    'the same key',
    [
      { ...lost, key: 'a' },
      { ...batch, key: 'a' },
    ],
    [],
  ],
  [
    'another key after a refusal that had no effect',
    [
      { ...batch, status: 503, key: 'a' },
      { ...batch, key: 'b' },
    ],
    [],
  ],
  [
    'another key after a success',
    [
      { ...batch, key: 'a', created: ['things/1'] },
      { ...batch, key: 'b' },
    ],
    [],
  ],
])('key.changed: %s', ([, steps, expected]) => {
  expect(only('key.changed', steps)).toEqual(expected)
})

test.for<[what: string, steps: Step[], expected: string[]]>([
  [
    'a create that was repeated without a key, and two records',
    [lost, { ...batch, created: ['things/2'] }],
    ['error key.missing'],
  ],
  ['a create that was repeated without a key, and one record', [lost, batch], ['warning key.missing']],
  [
    'a create that the client left and repeated',
    [
      { ...batch, end: 'left', created: ['things/1'] },
      { ...batch, created: ['things/2'] },
    ],
    ['error key.missing'],
  ],
  [
    'a gateway that failed after the create',
    [
      { ...batch, status: 504, created: ['things/1'] },
      { ...batch, created: ['things/2'] },
    ],
    ['error key.missing'],
  ],
  [
    'an operation without keys, and two records',
    [
      { ...page, status: 0, created: ['pages/1'] },
      { ...page, created: ['pages/2'] },
    ],
    ['warning key.missing'],
  ],
  [
    'an operation without keys, and one record',
    [
      { ...page, status: 0 },
      { ...page, created: ['pages/1'] },
    ],
    [],
  ],
  [
    'a page that was created twice on purpose',
    [
      { ...page, created: ['pages/1'] },
      { ...page, created: ['pages/2'] },
    ],
    [],
  ],
  [
    'a create after a refusal',
    [
      { ...batch, status: 503 },
      { ...batch, created: ['things/1'] },
    ],
    [],
  ],
  ['a read that was cut', [{ operation: 'agents.list', status: 0 }, { operation: 'agents.list' }], []],
])('key.missing: %s', ([, steps, expected]) => {
  expect(only('key.missing', steps)).toEqual(expected)
})

test('a finding about duplicates lists the records that were created', () => {
  const steps = [lost, { ...batch, created: ['things/2'] }]
  expect(reportOn(steps).data[0]).toMatchObject({
    message: expect.stringContaining('2 records exist: things/1, things/2'),
    evidence: { records: ['things/1', 'things/2'] },
  })
  expect(only('key.missing', steps, {}, { deleted: ['things/1'] })).toEqual(['warning key.missing'])
})

const conflict: Step = { ...batch, key: 'k', status: 409, code: 'idempotency_key_reused' }

test.for<[what: string, steps: Step[], expected: string[]]>([
  [
    'one key for three bodies',
    [
      { ...batch, key: 'k' },
      { ...conflict, body: { prompt: 'b' } },
      { ...conflict, body: { prompt: 'c' } },
    ],
    ['warning key.reused'],
  ],
  [
    'one key for two bodies',
    [
      { ...batch, key: 'k' },
      { ...conflict, body: { prompt: 'b' } },
    ],
    ['note key.reused'],
  ],
  ['a conflict that a fault has made', [{ ...conflict, fault: 'key-reuse-different-body' }], []],
  [
    'a key for each body',
    [
      { ...batch, key: 'k' },
      { ...batch, key: 'l', body: { prompt: 'b' } },
    ],
    [],
  ],
])('key.reused: %s', ([, steps, expected]) => {
  expect(only('key.reused', steps)).toEqual(expected)
})

const failed: Step = { ...batch, status: 500 }

test.for<[what: string, steps: Step[], expected: string[]]>([
  [
    'an empty body with the same key',
    [
      { ...failed, key: 'k' },
      { operation: 'batch-predictions.create', key: 'k', status: 400 },
    ],
    ['error body.changed'],
  ],
  [
    'an empty body without a key',
    [failed, { operation: 'batch-predictions.create', status: 400 }],
    ['warning body.changed'],
  ],
  [
    'the same body',
    [
      { ...failed, key: 'k' },
      { ...batch, key: 'k' },
    ],
    [],
  ],
  ['another body without a key', [failed, { ...batch, body: { prompt: 'b' } }], []],
  ['an empty body after a success', [batch, { operation: 'batch-predictions.create', status: 400 }], []],
])('body.changed: %s', ([, steps, expected]) => {
  expect(only('body.changed', steps)).toEqual(expected)
})

const later: Step = { ...batch, key: 'k', tomorrow: ['field'] }

test.for<[what: string, steps: Step[], expected: string[]]>([
  [
    'a success with a new field that is repeated twice',
    [later, later, later],
    ['warning evolve.unknown-value'],
  ],
  ['a replay that is not marked', [later, { ...batch, key: 'k' }, later], ['warning evolve.unknown-value']],
  ['one repetition, as after a time-out of the client', [later, later], []],
  ['a success without anything new', [batch, batch, batch].map((each) => ({ ...each, key: 'k' })), []],
  ['a failure with something new', [{ ...later, status: 503 }, later, later], []],
  ['another fault beside it', [later, later, later].map((each) => ({ ...each, fault: 'slow' })), []],
  [
    'the fault itself',
    [later, later, later].map((each) => ({ ...each, fault: 'tomorrow' })),
    ['warning evolve.unknown-value'],
  ],
  ['a key for each of the bodies', [later, { ...later, key: 'l' }, { ...later, key: 'm' }], []],
])('evolve.unknown-value: %s', ([, steps, expected]) => {
  expect(only('evolve.unknown-value', steps)).toEqual(expected)
})
