import { expect, test } from 'vitest'
import { zodIssues } from '../zod-issues.ts'
import { compare, type Matchable, matches, matchSchema, type RequestMatch } from './request-match.ts'

const who = { key_id: 'k1', kind: 'user', user_id: 'u1', organization_id: 'o1', teamspace_id: 't1' } as const
const caller = { ...who, account_admin: false, permissions: [], denied: [] }

const PLAN =
  '{"name": "Plan", "parent": {"type": "page"}, "n": 0, "nothing": null, "__proto__": 1, "a/b": []}'

const request: Matchable = {
  operation: 'pages.create',
  method: 'POST',
  path: '/@w3/v1/pages',
  pathPrefix: '/@w3',
  query: { limit: '5', tag: ['a', 'b'] },
  headers: { 'idempotency-key': 'try-1', accept: 'application/json' },
  body: { kind: 'json', value: JSON.parse(PLAN), bytes: 90 },
  caller,
  status: 429,
}

test.for<RequestMatch>([
  { operation: 'pages.create', method: 'post', path: '/v1/pages' },
  { path: '/v1/*' },
  { path: { regex: '^/v1/(pages|skills)$' } },
  { path: { regex: 'page' } },
  { status: 429 },
  { status: '429' },
  { status: '4xx' },
  { query: { limit: '5', tag: 'b' } },
  { headers: { Accept: '*json' }, idempotency_key: 'try-*' },
  { caller: { kind: 'user', user_id: 'u1', key_id: 'k1' } },
  { body: { '/name': { equals: 'Plan' }, '/n': { equals: 0 }, '/parent': { equals: { type: 'page' } } } },
  { body: { '/name': { glob: 'P*' }, '/nothing': { equals: null } } },
  { body: { '/nothing': { exists: true }, '/other': { exists: false } } },
  { body: { '/__proto__': { equals: 1 }, '/a~1b': { equals: [] }, '/toString': { exists: false } } },
])('a request fits by %j', (match) => {
  expect(compare(match, request).missed).toEqual([])
})

test.for<[match: RequestMatch, what: string, actual: unknown]>([
  [{ operation: 'pages.list' }, 'operation', 'pages.create'],
  [{ method: 'GET' }, 'method', 'POST'],
  [{ path: '/v1/page' }, 'path', '/v1/pages'],
  [{ path: { regex: '^page' } }, 'path', '/v1/pages'],
  [{ status: 400 }, 'status', 429],
  [{ status: 0 }, 'status', 429],
  [{ status: '5xx' }, 'status', 429],
  [{ query: { limit: '6' } }, 'query limit', '5'],
  [{ query: { tag: 'c' } }, 'query tag', ['a', 'b']],
  [{ query: { toString: 'x' } as never }, 'query toString', null],
  [{ headers: { accept: 'text/*' } }, 'header accept', 'application/json'],
  [{ headers: { constructor: '*' } as never }, 'header constructor', null],
  [{ idempotency_key: 'x' }, 'idempotency_key', 'try-1'],
  [{ caller: { kind: 'service' } }, 'caller kind', 'user'],
  [{ body: { '/name': { equals: 'plan' } } }, 'body /name', 'Plan'],
  [{ body: { '/parent': { equals: { type: 'page', id: null } } } }, 'body /parent', { type: 'page' }],
  [{ body: { '/nothing': { exists: false } } }, 'body /nothing', null],
  [{ body: { '/n': { glob: '*' } } }, 'body /n', 0],
  [{ body: { '/other': { equals: null } } }, 'body /other', null],
])('a request misses %j', ([match, what, actual]) => {
  const { criteria, missed } = compare(match, request)
  expect(criteria).toBe(1)
  expect(missed).toMatchObject([{ what, actual }])
  expect(matches(match, request)).toBe(false)
})

test('a body that the log does not keep fits no condition, and the reason is reported', () => {
  const large = { ...request, body: { kind: 'large', bytes: 20_000 } } as const
  const { missed } = compare({ body: { '/name': { exists: false } } }, large)
  expect(missed[0]?.actual).toBe('(a body of 20000 bytes, which the log does not keep)')
})

test('an unrouted request fits no caller, no operation and no status', () => {
  const { status: _, ...unrouted } = { ...request, operation: undefined, caller: undefined }
  const match = { operation: 'pages.create', caller: { kind: 'user' }, status: 404 } as const
  expect(compare(match, unrouted).missed.map(({ actual }) => actual)).toEqual([null, null, null])
})

const operations = new Map(['pages.create', 'pages.list'].map((name) => [name, {}]))

const problems = (given: unknown) => {
  const { error } = matchSchema({ operations }, {}).safeParse(given)
  return error === undefined ? [] : zodIssues(error, '').map(({ pointer, detail }) => [pointer, detail])
}

test('the schema accepts odd names', () => {
  const given = { query: JSON.parse('{"__proto__":"x"}'), body: { '': { exists: true } }, status: '4xx' }
  const parsed = matchSchema({ operations }, {}).parse(given)
  expect(JSON.stringify(parsed.query)).toBe('{"__proto__":"x"}')
})

test.for<[given: unknown, pointer: string, detail: RegExp]>([
  [{}, '', /at least one of operation, method/],
  [{ oparation: 'x' }, '/oparation', /not a known field\. Did you mean "operation"\?/],
  [{ operation: 'pages.creat' }, '/operation', /Did you mean "pages.create"\?/],
  [{ status: 'ok' }, '/status', /"4xx"/],
  [{ status: 1 }, '/status', /"4xx"/],
  [{ path: { regex: '(' } }, '/path/regex', /RE2: missing closing/],
  [{ path: { regexp: '.' } }, '/path/regexp', /Did you mean "regex"\?/],
  [{ path: 7 }, '/path', /a glob such as/],
  [{ caller: {} }, '/caller', /at least one/],
  [{ caller: { user: 'x' } }, '/caller/user', /Did you mean "user_id"\?/],
  [{ headers: { Authorization: '*' } }, '/headers/Authorization', /caller/],
  [{ query: { limit: 5 } }, '/query/limit', /string/],
  [{ body: { name: { equals: 1 } } }, '/body/name', /JSON Pointer/],
  [{ body: { '/name': {} } }, '/body/~1name', /exactly one/],
  [{ body: { '/name': { equal: 1 } } }, '/body/~1name/equal', /Did you mean "equals"\?/],
  [{ body: { '/name': { equals: 1, exists: true } } }, '/body/~1name', /exactly one/],
])('the schema refuses %j', ([given, pointer, detail]) => {
  expect(problems(given)).toContainEqual([pointer, expect.stringMatching(detail)])
})
