import { expect, test } from 'vitest'
import { createNote } from '../../../test/support/notes.ts'
import { Settings } from '../assumptions.ts'
import { Refusal } from '../errors.ts'
import { operation } from '../operation.ts'
import { type Call, Exchange } from '../request/exchange.ts'
import { RateLimiter } from '../request/rate-limiter.ts'
import { Store } from '../state/store.ts'
import { MAX_KEPT_BYTES } from './kept-response.ts'
import { logEntry } from './log-entry.ts'

const claim = operation({ ...createNote, name: 'things.claim', secrets: ['token'] })

function entryOf(over: Partial<Call>, refusal?: Refusal) {
  const route = { operation: claim, method: 'POST', path: '/v1/things', pathPrefix: '' } as const
  const given = { params: {}, query: {}, headers: {}, body: { kind: 'none' } } as const
  const call: Call = { ...route, chosenBy: 'default', ...given, ...over }
  const around = { seed: 1, name: 'default', settings: new Settings() }
  const exchange = new Exchange(call, new Store().begin(), 0, around, 'default-000001')
  exchange.refusal = refusal
  return logEntry(exchange, 200, new RateLimiter().peek('', { limit: 1, window: 1_000 }, 0), [])
}

test('headers that contain credentials are not kept, and others are', { tags: ['R231'] }, () => {
  const secret = { authorization: 'Bearer k', 'proxy-authorization': 'Basic k', cookie: 'session=k' }
  const kept = { accept: '*/*', 'x-trace': '1' }
  expect(entryOf({ headers: { ...secret, host: '127.0.0.1:4010', ...kept } }).headers).toEqual(kept)
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
  const kept = (length: number) =>
    entryOf({ body: { kind: 'json', value: { name: 'x' }, bytes: Buffer.alloc(length) } }).body
  expect(kept(MAX_KEPT_BYTES).kind).toBe('json')
  expect(kept(MAX_KEPT_BYTES + 1)).toEqual({ kind: 'large', bytes: 16_385 })
})

test('the size of a body without bytes is that of its values', () => {
  const itemsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ custom_id: `item-${n}` }))
  const body = (count: number) => ({ kind: 'json', value: itemsOf(count) }) as const
  expect(entryOf({ body: body(10) }).body.kind).toBe('json')
  expect(entryOf({ body: body(5_000) }).body).toEqual({ kind: 'large', bytes: undefined })
  expect(entryOf({ body: { kind: 'json', value: 'x'.repeat(17_000) } }).body.kind).toBe('large')
})

test('only the first hundred issues of a body are kept, and the number of all issues', () => {
  const issues = Array.from({ length: 5_000 }, (_, n) => ({ pointer: `/items/${n}`, detail: 'is wrong' }))
  const { error } = entryOf({}, new Refusal('validation_failed', { detail: 'wrong', issues }))
  expect([error?.issues.length, error?.issueCount]).toEqual([100, 5_000])
})

test('only the beginning and the length of a long text are kept: a full log would be gigabytes', () => {
  const name = 'k'.repeat(900_000)
  const issues = [{ pointer: `/${name}`, detail: `${name} is unknown` }]
  const refusal = new Refusal('validation_failed', { detail: `wrong: ${name}`, issues, mitigation: name })
  const { error } = entryOf({}, refusal)
  expect(JSON.stringify(error).length).toBeLessThan(5_000)
  expect(error?.issues[0]?.pointer).toMatch(/^\/k{999} … \(900001 characters\)$/)
})
