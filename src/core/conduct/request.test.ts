import { expect, test } from 'vitest'
import { judging, type Step } from '../../../test/support/observed-log.ts'
import { REDACTED } from '../secrets.ts'

const { codesOn, reportOn } = judging('fault.not-met', 'request.credential-in-url', 'request.unread-field')

const list: Step = { operation: 'agents.list' }

test.for<[what: string, step: Step, expected: string[]]>([
  ['a misspelt field', { body: { nam: 'a' } }, ['warning request.unread-field']],
  ['a field that nothing reads', { body: { name: 'a', colour: 'red' } }, ['note request.unread-field']],
  ['known fields', { body: { name: 'a' } }, []],
  ['a misspelt field that was refused', { body: { nam: 'a' }, status: 400 }, []],
  ['an odd filter', { operation: 'data-views.list', query: { limi: '2' } }, ['warning request.unread-field']],
  ['a known parameter', { operation: 'data-views.list', query: { limit: '2' }, response: { data: [] } }, []],
  ['a credential in a URL', { ...list, query: { api_key: REDACTED } }, ['warning request.credential-in-url']],
  ['a cursor whose name ends with token', { ...list, query: { page_token: REDACTED } }, []],
])('%s', ([, step, expected]) => {
  expect(codesOn([step])).toEqual(expected)
})

test('requests with the same field are one finding', () => {
  const step = { body: { nam: 'a' } }
  expect(reportOn([step, { body: { nam: 'b' } }]).data).toMatchObject([
    { requests: ['log-000001', 'log-000002'], evidence: { field: '/nam', requests: 2 } },
  ])
})

test('fault.not-met: a rule that never fired', () => {
  const codesWith = (fired: number) => codesOn([], {}, { rules: { 'rate-limited': fired } })
  expect([codesWith(0), codesWith(1)]).toEqual([['note fault.not-met'], []])
})
