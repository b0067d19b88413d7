import { expect, test } from 'vitest'
import { answerPreflight, corsHeaders, isPreflight } from './cors.ts'

const ORIGIN = 'http://localhost:3000'
const allowed = { origin: ORIGIN, allowed: true }
const ask = { origin: ORIGIN, 'access-control-request-method': 'POST' }

test('X2 an allowed origin is reflected, can read the quota headers, and gets no credentials', () => {
  const headers = new Map(corsHeaders(allowed))
  expect(headers.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
  expect(headers.get('Vary')).toBe('Origin')
  expect(headers.get('Access-Control-Expose-Headers')?.split(', ')).toEqual([
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'Retry-After',
    'RateLimit',
    'RateLimit-Policy',
    'X-Emulator-Request-Id',
    'X-Emulator-Assumed',
    'X-Emulator-Fault',
  ])
  expect(headers.has('Access-Control-Allow-Credentials')).toBe(false)
})

test('X2 a foreign origin, or none, is granted nothing', () => {
  expect(corsHeaders({ origin: 'http://evil.example', allowed: false })).toEqual([['Vary', 'Origin']])
  expect(corsHeaders({ origin: undefined, allowed: false })).toEqual([['Vary', 'Origin']])
})

test('only an OPTIONS request with origin and requested method is a preflight', () => {
  expect(isPreflight('OPTIONS', ask)).toBe(true)
  expect(isPreflight('POST', ask)).toBe(false)
  expect(isPreflight('OPTIONS', { origin: ORIGIN })).toBe(false)
  expect(isPreflight('OPTIONS', { 'access-control-request-method': 'POST' })).toBe(false)
})

test('X2 a preflight of an allowed origin is granted the methods and the headers asked for', () => {
  const answer = answerPreflight(allowed, {
    ...ask,
    'access-control-request-headers': 'authorization, idempotency-key,X-Custom-Lang',
  })
  expect(answer.status).toBe(204)
  expect(Object.fromEntries(answer.headers)).toEqual({
    Vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network',
    'Access-Control-Allow-Origin': ORIGIN,
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PATCH, DELETE',
    'Access-Control-Allow-Headers': 'authorization, idempotency-key, X-Custom-Lang',
    'Access-Control-Max-Age': '600',
  })
})

test('what is no header name is not reflected', () => {
  const names = (header: string) =>
    new Map(answerPreflight(allowed, { ...ask, 'access-control-request-headers': header }).headers).get(
      'Access-Control-Allow-Headers',
    )
  expect(names('a, b c, d\u00e9, , e:f, "g", x-ok')).toBe('a, x-ok')
  expect(names(' , ')).toBeUndefined()
})

test('private network access is granted when it is asked for', () => {
  const granted = (value: string) =>
    new Map(
      answerPreflight(allowed, { ...ask, 'access-control-request-private-network': value }).headers,
    ).get('Access-Control-Allow-Private-Network')
  expect(granted('true')).toBe('true')
  expect(granted('false')).toBeUndefined()
})

test('X2 a preflight of a foreign origin is granted nothing', () => {
  const answer = answerPreflight({ origin: 'null', allowed: false }, { ...ask, origin: 'null' })
  expect(answer.headers.map(([name]) => name)).toEqual(['Vary'])
})
