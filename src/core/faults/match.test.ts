import { expect, test } from 'vitest'
import { subject } from '../../../test/support/fault-book.ts'
import { counterKey, mismatch, type Subject } from './match.ts'
import type { CountedBy, FaultMatch } from './rule.ts'

const who = {
  key_id: 'key-1',
  kind: 'user',
  user_id: 'u1',
  organization_id: 'o1',
  teamspace_id: 't1',
} as const
const caller = { ...who, account_admin: false, permissions: [], denied: [] }

const request = subject({
  operation: 'things.create',
  method: 'POST',
  path: '/@w3/v1/things/7',
  pathPrefix: '/@w3',
  headers: { 'idempotency-key': 'try-1', 'x-emulator-tag': 'blue' },
  body: { kind: 'json', value: { name: 'Plan' }, bytes: 15 },
  caller,
  connection: { id: 'c9', index: 2 },
  resource: '7',
})

const webhook: Subject = { kind: 'webhook', type: 'thing.ended', url: 'http://a.test/hook', resource: '7' }
const connection: Subject = { kind: 'connection', id: 'c9' }

test.for<[match: FaultMatch | 'everything', subject: Subject]>([
  ['everything', request],
  ['everything', connection],
  [{ connection_request_index: 1 }, connection],
  [{ operation: 'things.create', method: 'post', path: '/v1/things/*' }, request],
  [{ path: { regex: '^/v1/(things|thongs)/\\d+$' } }, request],
  [{ body: { '/name': { glob: 'P*' } }, headers: { 'X-Emulator-Tag': 'b*' } }, request],
  [{ api_key: 'key-*', principal_kind: 'user', idempotency_key: 'try-*' }, request],
  [{ connection_request_index: 2 }, request],
  [{ webhook: 'thing.*', url: '*/hook' }, webhook],
  [{ url: 'http://a*' }, webhook],
  [{ webhook: 'thing.ended' }, webhook],
  [{}, connection],
  [{}, request],
])('%j fits', ([match, subject]) => {
  expect(mismatch(match, subject)).toBeUndefined()
})

test.for<[match: FaultMatch, subject: Subject, description: string]>([
  [{ method: 'GET', operation: 'x' }, request, 'The operation is "things.create", not "x".'],
  [{ path: { regex: '^/things' } }, request, 'The path is "/v1/things/7", not {"regex":"^/things"}.'],
  [{ api_key: 'key-2' }, request, 'The api_key is "key-1", not "key-2".'],
  [{ api_key: '*' }, subject(), 'The api_key is absent, not "*".'],
  [{ principal_kind: 'service' }, request, 'The principal_kind is "user", not "service".'],
  [{ principal_kind: 'user' }, subject(), 'The principal_kind is absent, not "user".'],
  [{ connection_request_index: 1 }, request, 'The connection_request_index is 2, not 1.'],
  [{ connection_request_index: 1 }, subject(), 'The connection_request_index is absent, not 1.'],
  [{ connection_request_index: 2 }, connection, 'The connection_request_index is 1, not 2.'],
  [{ webhook: 'thing.began' }, webhook, 'The webhook is "thing.ended", not "thing.began".'],
  [{ webhook: '*', url: 'http://b*' }, webhook, 'The url is "http://a.test/hook", not "http://b*".'],
])('%j does not fit, and the first reason is reported', ([match, subject, description]) => {
  expect(mismatch(match, subject)).toBe(description)
})

test.for<[by: CountedBy[], subject: Subject, key: string | null]>([
  [[], request, null],
  [['api_key'], request, 'key-1'],
  [['idempotency_key'], request, 'try-1'],
  [['operation', 'tag'], request, 'things.create blue'],
  [['connection'], request, 'c9'],
  [['connection'], connection, 'c9'],
  [['resource_id'], request, '7'],
  [['resource_id'], webhook, '7'],
  [['tag', 'api_key'], subject(), '- -'],
  [['resource_id'], connection, '-'],
  [['resource_id'], subject(), '-'],
  [['connection'], webhook, '-'],
  [['connection'], subject(), '-'],
  [['operation'], webhook, '-'],
  [['tag'], connection, '-'],
  [['rule'], request, '-'],
])('matches are counted by %j', ([by, subject, key]) => {
  expect(counterKey(by, subject)).toBe(key)
})

test('a mismatch quotes only values that the log keeps', { tags: ['R231'] }, () => {
  const kept = () => ({ ...secret, headers: { 'x-secret': '(redacted)' } })
  const secret = subject({
    query: { token: 'q-secret' },
    headers: { 'x-secret': 'h-secret' },
    body: { kind: 'json', value: { password: 'b-secret' }, bytes: 20 },
  })
  const told = (match: FaultMatch, over: Partial<typeof secret> = { kept }) =>
    mismatch(match, { ...secret, ...over })
  const header = { headers: { 'X-Secret': 'x' } }
  expect(told(header)).toBe('The header X-Secret is "(redacted)", not "x".')
  expect(told(header, {})).toBe('The header X-Secret is "h-secret", not "x".')
  // The kept value would fit, so the real one must not be reported.
  const fitting = { kept: () => ({ ...secret, headers: { 'x-secret': 'x' } }) }
  expect(told(header, fitting)).toBe('The header X-Secret is "(redacted)", not "x".')
  const empty = { kept: () => ({ query: {}, headers: {}, body: { kind: 'none' as const } }) }
  expect(told({ query: { token: 'x' } }, empty)).toBe('The query token is absent, not "x".')
  expect(told({ body: { '/password': { equals: 'x' } } }, empty)).toContain('The body /password is absent')
  expect(told({ method: 'POST' }, empty)).toBe('The method is "GET", not "POST".')
})

test('a description quotes only the beginning of a long value', () => {
  const long = 'x'.repeat(200_000)
  const body = { kind: 'json', value: { name: long }, bytes: 200_011 } as const
  for (const match of [{ path: `/v1/${long}` }, { body: { '': { equals: long } } }])
    expect(mismatch(match, subject({ body }))?.length).toBeLessThan(5_000)
})

test('a value of two hundred characters is its own key, a longer one becomes a digest, and spaces are escaped', () => {
  const keyOf = (tag: string) => counterKey(['tag'], { ...request, headers: { 'x-emulator-tag': tag } })
  expect(keyOf('t'.repeat(200))).toBe('t'.repeat(200))
  expect(keyOf('t'.repeat(201))).toMatch(/^sha256:.{1,90}$/)
  expect(keyOf('a b c')).toBe('a%20b%20c')
})
