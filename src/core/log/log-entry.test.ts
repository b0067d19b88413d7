import { expect, test } from 'vitest'
import { Settings } from '../assumptions.ts'
import { Refusal } from '../errors.ts'
import { operation } from '../operation.ts'
import { type Call, Exchange } from '../request/exchange.ts'
import { RateLimiter } from '../request/rate-limiter.ts'
import { Store } from '../state/store.ts'
import { MAX_KEPT_BYTES } from './kept-response.ts'
import { logEntry } from './log-entry.ts'

const claim = operation({
  name: 'things.claim',
  method: 'POST',
  path: '/things/claim',
  summary: 'Claim a thing',
  section: 'none',
  errorFormat: 'standard',
  contract: true,
  success: 200,
  secrets: ['token'],
  handle: () => ({}),
})

function entryOf(over: Partial<Call>, refusal?: Refusal) {
  const call: Call = {
    operation: claim,
    method: 'POST',
    path: '/v1/things/claim',
    pathPrefix: '',
    chosenBy: 'default',
    params: {},
    query: {},
    headers: {},
    body: { kind: 'none' },
    ...over,
  }
  const around = { seed: 1, name: 'default', settings: new Settings() }
  const exchange = new Exchange(call, new Store().begin(), 0, around, 'default-000001')
  exchange.refusal = refusal
  return logEntry(exchange, 200, new RateLimiter().peek('', { limit: 1, window: 1_000 }, 0), [])
}

test('headers that contain credentials are not kept, and others are', { tags: ['R231'] }, () => {
  const headers = {
    authorization: 'Bearer secret-key',
    'proxy-authorization': 'Basic secret-key',
    cookie: 'session=secret-key',
    host: '127.0.0.1:4010',
    accept: '*/*',
    'x-trace': '1',
  }
  expect(entryOf({ headers }).headers).toEqual({ accept: '*/*', 'x-trace': '1' })
})

test.for<[what: string, value: unknown]>([
  ['an object', { token: 'secret', name: 'x' }],
  ['a list', ['secret']],
  ['a text', 'secret'],
  ['an object with the secret in a strange type', { token: ['secret'] }],
])('declared secrets are not kept: %s', { tags: ['R231'] }, ([, value]) => {
  const body = { kind: 'json', value: value as never, bytes: Buffer.from(JSON.stringify(value)) } as const
  const entry = entryOf({ body, query: { token: 'secret', page: '2' } })
  expect(JSON.stringify(entry)).not.toContain('secret')
  expect(entry.query).toEqual({ token: '(redacted)', page: '2' })
})

test('a body without declared secrets is kept as the parsed value itself, not as a copy', () => {
  const value = { name: 'public', list: [1] }
  const { secrets: _, ...open } = claim
  const entry = entryOf({ operation: open, body: { kind: 'json', value, bytes: Buffer.alloc(40) } })
  expect(entry.body).toEqual({ kind: 'json', value, bytes: 40 })
  expect(entry.body.kind === 'json' && entry.body.value).toBe(value)
})

test('a body of 16 KiB is kept, and only the length of a larger one', () => {
  const body = (length: number) =>
    ({ kind: 'json', value: { name: 'x' }, bytes: Buffer.alloc(length) }) as const
  expect(entryOf({ body: body(MAX_KEPT_BYTES) }).body.kind).toBe('json')
  expect(entryOf({ body: body(MAX_KEPT_BYTES + 1) }).body).toEqual({ kind: 'large', bytes: 16_385 })
})

test('the size of a body without bytes is that of its values', () => {
  const body = (items: number) =>
    ({
      kind: 'json',
      value: { items: Array.from({ length: items }, (_, n) => ({ custom_id: `item-${n}` })) },
    }) as const
  expect(entryOf({ body: body(10) }).body.kind).toBe('json')
  expect(entryOf({ body: body(5_000) }).body).toEqual({ kind: 'large', bytes: undefined })
  expect(entryOf({ body: { kind: 'json', value: 'x'.repeat(17_000) } }).body.kind).toBe('large')
})

test('only the first hundred issues of a body are kept, and the number of all issues', () => {
  const issues = Array.from({ length: 5_000 }, (_, n) => ({ pointer: `/items/${n}`, detail: 'is wrong' }))
  const { error } = entryOf({}, new Refusal('validation_failed', { detail: 'wrong', issues }))
  expect([error?.issues.length, error?.issueCount]).toEqual([100, 5_000])
})

test('the error itself is not kept: its stack would keep the whole request alive', () => {
  const refusal = new Refusal('conflict', { detail: 'It is so.' })
  expect(Object.values(entryOf({}, refusal))).not.toContain(refusal)
})

test('only the beginning and the length of a long text are kept: a full log would be gigabytes', () => {
  const name = 'k'.repeat(900_000)
  const issues = [{ pointer: `/${name}`, detail: `${name} is unknown` }]
  const refusal = new Refusal('validation_failed', { detail: `wrong: ${name}`, issues, mitigation: name })
  const { error } = entryOf({}, refusal)
  expect(JSON.stringify(error).length).toBeLessThan(5_000)
  expect(error?.issues[0]?.pointer).toMatch(/^\/k{999} … \(900001 characters\)$/)
})
