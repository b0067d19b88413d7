import { expect, test } from 'vitest'
import { Settings } from '../../../src/core/assumptions.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { workspaceDocument } from '../../../src/server/control/openapi/workspace.ts'
import type { RawResponse } from './connection.ts'
import { readDocument } from './document.ts'
import { type Broken, judge } from './judge.ts'
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
  ...{ object: 'page', id: 'p-1', name: 'Plan', teamspace_id: 'ts-a', scope: 'teamspace' },
  created_at: '2026-03-01T12:00:00.000Z',
}
const ERROR = { error: 'not_found', message: 'No.', retryable: false, details: {} }
const LIST = { object: 'list', data: [] }
const PROBLEM = { type: 'http://x/not_found', title: 'Not Found', status: 404, detail: 'No.' }
const AS_PROBLEM = { 'content-type': 'application/problem+json' }

function sentOf(method: string, path: string, body?: object): Sent {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  return { method, target: `/v1${path}`, headers: [], body: bytes }
}

/** A response; undefined removes a header. */
function responseOf(
  status: number,
  body: unknown,
  headers: Record<string, string | undefined> = {},
): RawResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = Object.entries({ ...HEADERS, ...headers }).filter(([, value]) => value !== undefined)
  return { status, headers: new Map(all as [string, string][]), text }
}

const errorOf = (status: number, rest: object = {}) =>
  responseOf(status, { ...ERROR, status_code: status, statusCode: status, ...rest })
const problemOf = (instance: string) => responseOf(404, { ...PROBLEM, instance }, AS_PROBLEM)
const create = sentOf('POST', '/pages', { name: 'Plan' })
const nothing = sentOf('GET', '/nothing')
const batch = sentOf('GET', '/batch-predictions/b-1')

test.each<[what: string, sent: Sent, response: RawResponse, broken?: Broken | undefined, isValid?: boolean]>([
  ['a success', create, responseOf(200, PAGE), undefined, true],
  ['an error', nothing, errorOf(404)],
  ['a member too many', create, responseOf(200, { ...PAGE, extra: 1 }), 'response schema'],
  ['a member of another type', create, responseOf(200, { ...PAGE, name: null }), 'response schema'],
  ['another status', create, responseOf(201, PAGE), 'response schema'],
  ['another type', create, responseOf(200, PAGE, { 'content-type': 'text/html' }), 'response schema'],
  ['a success that is not JSON', create, responseOf(200, '{'), 'response schema'],
  ['an error with a member too many', create, errorOf(404, { stack: 'x' }), 'error form'],
  ['an error with another status inside', create, errorOf(404, { status_code: 400 }), 'error form'],
  ['an error with a stack', create, errorOf(404, { message: 'x at /src/a.ts:1' }), 'error form'],
  ['an error that is not JSON', create, responseOf(404, 'Not Found'), 'error form'],
  ['a problem of a batch', batch, problemOf(batch.target)],
  ['a problem with another path as its instance', batch, problemOf('/v1/other'), 'error form'],
  ['an error of a batch that is no problem', batch, errorOf(404), 'error form'],
  ['a problem of another resource', create, problemOf(create.target), 'error form'],
  ['a 501 of an endpoint without a contract', sentOf('POST', '/converse', {}), errorOf(501)],
  ['another 501', create, errorOf(501), 'unsolicited 5xx'],
  ['a refusal', create, errorOf(400, { error: 'validation_failed' })],
  ['a refusal of a valid request', create, errorOf(400, { error: 'validation_failed' }), 'error form', true],
  ['a wrong body that is accepted', sentOf('POST', '/pages', { name: 5 }), responseOf(200, PAGE), 'accepted'],
  ['the largest page', sentOf('GET', '/data-views?limit=100'), responseOf(200, LIST)],
  ['a page too large', sentOf('GET', '/data-views?limit=101'), responseOf(200, LIST), 'accepted'],
  ['a path that there is not', nothing, responseOf(200, {}), 'accepted'],
  ['Retry-After with requests left', create, responseOf(200, PAGE, { 'retry-after': '5' }), 'headers'],
  [
    'no Retry-After with none left',
    create,
    responseOf(200, PAGE, { 'x-ratelimit-remaining': '0' }),
    'headers',
  ],
  [
    'Retry-After with none left',
    create,
    responseOf(200, PAGE, { 'x-ratelimit-remaining': '0', 'retry-after': '5' }),
  ],
  ...['x-ratelimit-limit', 'x-ratelimit-reset', 'x-emulator-request-id', 'date', 'vary'].map(
    (name): [string, Sent, RawResponse, Broken] => [
      `no ${name}`,
      create,
      responseOf(200, PAGE, { [name]: undefined }),
      'headers',
    ],
  ),
])('the judge about %s', (_, sent, response, expected, isValid = false) => {
  const broken = judge(document, sent, response, isValid).map((each) => each.broken)
  expect(broken).toEqual(expected === undefined ? [] : [expected])
})
