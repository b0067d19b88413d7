import { expect, test } from 'vitest'
import { judging, type Step } from '../../../test/support/observed-log.ts'

const { codesOn, reportOn } = judging('evolve.unknown-value', 'key.changed', 'key.missing', 'key.reused')

const batch: Step = { operation: 'batch-predictions.create', body: { prompt: 'a' } }
const lost: Step = { ...batch, status: 0, created: ['things/1'] }
const second: Step = { ...batch, created: ['things/2'] }
const page: Step = { body: { name: 'a' } }
const made = (id: string): Step => ({ ...page, created: [`pages/${id}`] })

const only = (code: string, ...given: Parameters<typeof codesOn>) =>
  codesOn(...given).filter((each) => each.endsWith(code))

test.for<[what: string, first: Step, next: Step, expected: string[]]>([
  ['a new key, 2 records', { ...lost, key: 'a' }, { ...second, key: 'b' }, ['error key.changed']],
  ['a new key, 1 record', { ...batch, status: 0, key: 'a' }, { ...batch, key: 'b' }, ['warning key.changed']],
  ['the same key', { ...lost, key: 'a' }, { ...batch, key: 'a' }, []],
  ['another key after a refusal', { ...batch, status: 503, key: 'a' }, { ...batch, key: 'b' }, []],
  ['another key after a success', { ...lost, status: 200, key: 'a' }, { ...batch, key: 'b' }, []],
])('key.changed: %s', ([, first, next, expected]) => {
  expect(only('key.changed', [first, next])).toEqual(expected)
})

test.for<[what: string, first: Step, next: Step, expected: string[]]>([
  ['a create that was repeated without a key, and two records', lost, second, ['error key.missing']],
  ['a create that was repeated without a key, and one record', lost, batch, ['warning key.missing']],
  ['a create that the client left', { ...lost, status: 200, end: 'left' }, second, ['error key.missing']],
  ['a gateway that failed after the create', { ...lost, status: 504 }, second, ['error key.missing']],
  ['an operation without keys, 2 records', { ...made('1'), status: 0 }, made('2'), ['warning key.missing']],
  ['an operation without keys, one record', { ...page, status: 0 }, made('1'), []],
  ['a page twice on purpose', made('1'), made('2'), []],
  ['a create after a refusal', { ...batch, status: 503 }, second, []],
  ['a read that was cut', { operation: 'agents.list', status: 0 }, { operation: 'agents.list' }, []],
])('key.missing: %s', ([, first, next, expected]) => {
  expect(only('key.missing', [first, next])).toEqual(expected)
})

test('a finding about duplicates lists the records that were created', () => {
  const steps = [lost, second]
  const message = expect.stringContaining('2 records exist: things/1, things/2')
  expect(reportOn(steps).data[0]).toMatchObject({ message, evidence: { records: ['things/1', 'things/2'] } })
  expect(only('key.missing', steps, {}, { deleted: ['things/1'] })).toEqual(['warning key.missing'])
})

const keyed: Step = { ...batch, key: 'k' }
const conflict: Step = { ...keyed, status: 409, code: 'idempotency_key_reused' }
const other: Step = { ...conflict, body: { prompt: 'b' } }

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['one key for three bodies', [keyed, other, { ...other, body: { prompt: 'c' } }], ['warning key.reused']],
  ['one key for two bodies', [keyed, other], ['note key.reused']],
  ['a conflict that a fault has made', [{ ...conflict, fault: 'key-reuse-different-body' }], []],
  ['a key for each body', [keyed, { key: 'l', ...batch, body: { prompt: 'b' } }], []],
])('key.reused: %s', ([, steps, expected]) => {
  expect(only('key.reused', steps)).toEqual(expected)
})

const later: Step = { ...keyed, tomorrow: ['field'] }
const thrice = (step: Step): Step[] => [step, step, step]
const FOUND = ['warning evolve.unknown-value']

test.for<[what: string, steps: Step[], expected: string[]]>([
  ['a success with a new field that is repeated twice', thrice(later), FOUND],
  ['a replay that is not marked', [later, keyed, later], FOUND],
  ['one repetition, as after a time-out of the client', [later, later], []],
  ['a success without anything new', thrice(keyed), []],
  ['a failure with something new', [{ ...later, status: 503 }, later, later], []],
  ['another fault beside it', thrice({ ...later, fault: 'slow' }), []],
  ['the fault itself', thrice({ ...later, fault: 'tomorrow' }), FOUND],
  ['a key for each of the bodies', [later, { ...later, key: 'l' }, { ...later, key: 'm' }], []],
])('evolve.unknown-value: %s', ([, steps, expected]) => {
  expect(only('evolve.unknown-value', steps)).toEqual(expected)
})
