import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { allowHosts } from '../http/guard.ts'
import { refuseRequest } from './router.ts'

const TOKEN = 'control-0123456789'

function refusalOf(authorization: string | undefined, token: string | undefined, host = 'localhost') {
  const headers = authorization === undefined ? {} : { authorization }
  const request = { rawHeaders: ['Host', host], headers, socket: {} as Socket }
  return refuseRequest({ token, hosts: allowHosts('localhost'), pages: {} }, request)
}

test.for([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `Bearer   ${TOKEN}  `])('"%s" is accepted', (header) => {
  expect(refusalOf(header, TOKEN)).toBeUndefined()
})

test.for([
  ...[undefined, '', 'Bearer', `Bearer ${TOKEN.slice(0, -1)}`, `Bearer ${TOKEN}0`, `Basic ${TOKEN}`],
  ...[`Bearer ${TOKEN.toUpperCase()}`, `Bearer ${TOKEN} other`, `Bearer ${TOKEN},other`],
  'Bearer live_demo_owner',
])('"%s" is refused with 401 and a fix', (authorization) => {
  const refusal = refusalOf(authorization, TOKEN)
  expect(refusal?.code).toBe('unauthorized')
  expect(refusal?.options.mitigation).toContain('control token')
  expect(refusal?.options.headers).toEqual([['WWW-Authenticate', 'Bearer realm="control"']])
  expect(refusal?.message).not.toContain(TOKEN)
})

test('without a token set, any Authorization header passes', () => {
  expect(refusalOf(undefined, undefined)).toBeUndefined()
  expect(refusalOf('Bearer whatever', undefined)).toBeUndefined()
})

test('host and origin are checked before the token', () => {
  expect(refusalOf('Bearer wrong', TOKEN, 'example.com')?.code).toBe('forbidden')
})
