import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { allowHosts } from '../http/guard.ts'
import { refuseRequest } from './router.ts'

const TOKEN = 'control-0123456789'

function refusalOf(authorization: string | undefined, token: string | undefined, host = 'localhost') {
  const headers = authorization === undefined ? {} : { authorization }
  const rawHeaders = ['Host', host]
  const hosts = allowHosts('localhost')
  return refuseRequest({ token, hosts, pages: {} }, { rawHeaders, headers, socket: {} as Socket })
}

test.for<[name: string, authorization: string | undefined]>([
  ['as usual', `Bearer ${TOKEN}`],
  ['with another case of the scheme', `bearer ${TOKEN}`],
  ['with blanks around', `Bearer   ${TOKEN}  `],
])('the token is accepted %s', ([, authorization]) => {
  expect(refusalOf(authorization, TOKEN)).toBeUndefined()
})

test.for<[name: string, authorization: string | undefined]>([
  ['absent', undefined],
  ['empty', ''],
  ['a scheme alone', 'Bearer'],
  ['a prefix of it', `Bearer ${TOKEN.slice(0, -1)}`],
  ['longer', `Bearer ${TOKEN}0`],
  ['in other case', `Bearer ${TOKEN.toUpperCase()}`],
  ['under another scheme', `Basic ${TOKEN}`],
  ['one of two', `Bearer ${TOKEN} other`],
  ['one of a list', `Bearer ${TOKEN},other`],
  ['an API key', 'Bearer live_demo_owner'],
])('a token that is %s is refused with 401 and a fix', ([, authorization]) => {
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
