import { expect, test } from 'vitest'
import { Settings } from '../../../src/core/assumptions.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { workspaceDocument } from '../../../src/server/control/openapi/workspace.ts'
import type { RawResponse } from './connection.ts'
import { readDocument } from './document.ts'
import { judge } from './judge.ts'
import type { Sent } from './request-wire.ts'

const document = readDocument(
  workspaceDocument(workspaceService, new Settings(), { title: 'x', version: '1' }),
)

const HEADERS = {
  'x-ratelimit-limit': '200',
  'x-ratelimit-remaining': '199',
  'x-ratelimit-reset': '1772366460',
  'x-emulator-request-id': 'default-000001',
  date: 'Sun, 01 Mar 2026 12:00:00 GMT',
  vary: 'Origin',
  'content-type': 'application/json; charset=utf-8',
}

const PAGE = {
  object: 'page',
  id: 'p-1',
  name: 'Plan',
  teamspace_id: 'ts-a',
  scope: 'teamspace',
  created_at: '2026-03-01T12:00:00.000Z',
}

const ERROR = {
  status_code: 404,
  statusCode: 404,
  error: 'not_found',
  message: 'No.',
  retryable: false,
  details: {},
}

function sentOf(method: string, path: string, body?: object): Sent {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  return { method, target: `/v1${path}`, headers: [], body: bytes }
}

function responseOf(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): RawResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers: new Map(Object.entries({ ...HEADERS, ...headers })), text }
}

function brokenBy(sent: Sent, response: RawResponse, isValid = false): string[] {
  return judge(document, sent, response, isValid).map(({ broken }) => broken)
}

const create = sentOf('POST', '/pages', { name: 'Plan' })

test('a response that agrees with the document breaks no promise', () => {
  expect(brokenBy(create, responseOf(200, PAGE), true)).toEqual([])
  expect(brokenBy(sentOf('GET', '/nothing'), responseOf(404, ERROR))).toEqual([])
})

test.each([
  ['a member too many', responseOf(200, { ...PAGE, extra: 1 })],
  ['a member of another type', responseOf(200, { ...PAGE, name: null })],
  ['another status', responseOf(201, PAGE)],
  ['another type', responseOf(200, PAGE, { 'content-type': 'text/html' })],
  ['no JSON', responseOf(200, '{')],
])('a success with %s breaks the response schema', (_, response) => {
  expect(brokenBy(create, response)).toEqual(['response schema'])
})

test.each([
  ['a member too many', { ...ERROR, stack: 'x' }],
  ['another status inside', { ...ERROR, status_code: 400 }],
  ['a stack', { ...ERROR, message: 'x at /src/a.ts:1' }],
  ['no JSON', 'Not Found'],
])('an error with %s breaks the error form', (_, body) => {
  expect(brokenBy(create, responseOf(404, body))).toEqual(['error form'])
})

test('only errors of batches are problem details with the path as instance', () => {
  const sent = sentOf('GET', '/batch-predictions/b-1')
  const problem = {
    type: 'http://x/not_found',
    title: 'Not Found',
    status: 404,
    detail: 'No.',
    instance: sent.target,
  }
  const type = { 'content-type': 'application/problem+json' }
  expect(brokenBy(sent, responseOf(404, problem, type))).toEqual([])
  expect(brokenBy(sent, responseOf(404, { ...problem, instance: '/v1/other' }, type))).toEqual(['error form'])
  expect(brokenBy(sent, responseOf(404, ERROR))).toEqual(['error form'])
  expect(brokenBy(create, responseOf(404, problem, type))).toEqual(['error form'])
})

test('only an endpoint without a contract may respond with 501, and none with another 5xx', () => {
  const unknown = { ...ERROR, status_code: 501, statusCode: 501 }
  expect(brokenBy(sentOf('POST', '/converse', {}), responseOf(501, unknown))).toEqual([])
  expect(brokenBy(create, responseOf(501, unknown))).toEqual(['unsolicited 5xx'])
})

test('a valid request must not be refused as malformed', () => {
  const refused = { ...ERROR, status_code: 400, statusCode: 400, error: 'validation_failed' }
  expect(brokenBy(create, responseOf(400, refused))).toEqual([])
  expect(brokenBy(create, responseOf(400, refused), true)).toEqual(['error form'])
})

test('a body that the document forbids must not be accepted', () => {
  expect(brokenBy(sentOf('POST', '/pages', { name: 5 }), responseOf(200, PAGE))).toEqual(['accepted'])
  const list = { object: 'list', data: [] }
  expect(brokenBy(sentOf('GET', '/data-views?limit=100'), responseOf(200, list))).toEqual([])
  expect(brokenBy(sentOf('GET', '/data-views?limit=101'), responseOf(200, list))).toEqual(['accepted'])
  expect(brokenBy(sentOf('GET', '/nothing'), responseOf(200, {}))).toEqual(['accepted'])
})

test.each(['x-ratelimit-limit', 'x-ratelimit-reset', 'x-emulator-request-id', 'date', 'vary'])(
  'a response without %s breaks the headers',
  (name) => {
    const response = responseOf(200, PAGE)
    const headers = new Map([...response.headers].filter(([each]) => each !== name))
    expect(brokenBy(create, { ...response, headers })).toEqual(['headers'])
  },
)

test('Retry-After is present exactly when no requests remain', () => {
  expect(brokenBy(create, responseOf(200, PAGE, { 'retry-after': '5' }))).toEqual(['headers'])
  expect(brokenBy(create, responseOf(200, PAGE, { 'x-ratelimit-remaining': '0' }))).toEqual(['headers'])
  expect(
    brokenBy(create, responseOf(200, PAGE, { 'x-ratelimit-remaining': '0', 'retry-after': '5' })),
  ).toEqual([])
})
