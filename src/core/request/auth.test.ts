import { expect, test } from 'vitest'
import { Settings } from '../assumptions.ts'
import type { Refusal } from '../errors.ts'
import { seal } from '../secrets.ts'
import { Store } from '../state/store.ts'
import { type ApiKey, Authenticator, apiKeys, servicePrefix, userPrefix } from './auth.ts'

const settings = new Settings()

function keyOf(id: string, over: Partial<ApiKey> = {}): ApiKey {
  const place = { user_id: 'u', organization_id: 'o', teamspace_id: 'ts' }
  const rights = { account_admin: false, permissions: [], denied: [] }
  return { id, kind: 'user', token: seal(`token-of-${id}`), ...place, ...rights, ...over }
}

function keysOf(...keys: readonly ApiKey[]) {
  const store = new Store()
  store.load(apiKeys.name, keys)
  const guard = (anyKey: boolean) => new Authenticator(store, anyKey)
  return { registered: guard(false), any: guard(true) }
}

function refusalOf(authenticator: Authenticator, authorization: string | undefined): Refusal {
  try {
    authenticator.identify(authorization, settings)
  } catch (error) {
    return error as Refusal
  }
  throw new Error('it was not refused')
}

test.for([
  ...['Bearer token-of-one', 'bearer token-of-one', 'BEARER token-of-one'],
  ...['Bearer    token-of-one', 'Bearer token-of-one  '],
])('the header "%s" is accepted', { tags: ['R226'] }, (authorization) => {
  expect(keysOf(keyOf('one')).registered.identify(authorization, settings).key_id).toBe('one')
})

test.for([
  ...['token-of-one', 'Bearer', 'Bearer ', 'Bearertoken-of-one', 'Basic token-of-one'],
  ...[
    'X Bearer token-of-one',
    'Bearer token-of-one, Bearer token-of-one',
    'Bearer token-of-one token-of-one',
  ],
])('the header "%s" is refused with the form that it must have', (authorization) => {
  const message = 'The Authorization header is not of the form "Bearer <token>".'
  const refusal = refusalOf(keysOf(keyOf('one')).registered, authorization)
  expect(refusal).toMatchObject({ code: 'unauthorized', message })
})

test('a missing header and an unknown token get different messages, and the refusal names the scheme', () => {
  const { registered } = keysOf(keyOf('one'))
  expect(refusalOf(registered, undefined).message).toBe('The request has no Authorization header.')
  const unknown = refusalOf(registered, 'Bearer live_unknown')
  expect(unknown.message).toBe('No key of this sandbox has the given token.')
  expect(unknown.options.headers).toEqual([['WWW-Authenticate', 'Bearer']])
})

test('the stored digest is not accepted as a token', { tags: ['R231'] }, () => {
  const { registered, any } = keysOf(keyOf('one'))
  const refusals = [registered, any].map((each) => refusalOf(each, `Bearer ${seal('token-of-one')}`).message)
  expect(new Set(refusals)).toEqual(new Set(['No key of this sandbox has the given token.']))
})

/** The ids of the keys that these tokens act as when any token is accepted. */
const actingAs = (keys: ApiKey[], settings: Settings, ...tokens: string[]) =>
  tokens.map((token) => {
    const headers = { authorization: `Bearer ${token}` }
    return keysOf(...keys).any.guessCall({ headers }, settings)?.key_id
  })

test('an unknown token may act as the first key of the kind of its prefix', { tags: ['R227'] }, () => {
  const keys = [keyOf('s', { kind: 'service' }), keyOf('u1'), keyOf('u2')]
  expect(actingAs(keys, settings, 'live_x', 'service_x', 'token-of-u2')).toEqual(['u1', 's', 'u2'])
  const none = [undefined, undefined, undefined]
  expect(actingAs(keys, settings, 'x', 'x_live_', 'x_service_')).toEqual(none)
})

test('settings change the prefixes; a token of a kind without keys is refused', { tags: ['U069'] }, () => {
  const own = new Settings({ [userPrefix.key]: 'me-', [servicePrefix.key]: 'it-' })
  expect(actingAs([keyOf('u')], own, 'me-1', 'live_1', 'it-1')).toEqual(['u', undefined, undefined])
})

test('a token with "@" is refused, because "@" selects a sandbox; missing fields of a key get empty defaults', () => {
  const key = { id: 'k', kind: 'user', token: 't', organization_id: 'o', teamspace_id: 'ts' }
  const defaults = { user_id: null, account_admin: false, permissions: [], denied: [] }
  expect(apiKeys.schema(settings).parse(key)).toEqual({ ...key, ...defaults })
  const refused = apiKeys.schema(settings).safeParse({ ...key, token: 'a@b' })
  expect(refused.error?.issues[0]?.message).toMatch(/^must have no "@"/)
  for (const wrong of [{ id: '' }, { token: '' }, { kind: 'robot' }, { more: 1 }] as object[])
    expect(apiKeys.schema(settings).safeParse({ ...key, ...wrong }).success).toBe(false)
})
