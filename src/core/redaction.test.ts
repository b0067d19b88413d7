import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../test/support/for-all.ts'
import {
  isDistinct,
  isSecretName,
  mapCredentials,
  Pseudonyms,
  secretsIn,
  withoutSecrets,
  withoutSecretsInText,
} from './redaction.ts'

test.for([
  ...['password', 'passphrase', 'api_key', 'apiKey', 'apikey', 'X-Api-Key', 'client_secret', 'clientSecret'],
  ...['token', 'access_token', 'refreshToken', 'id_token', 'Authorization', 'set-cookie', 'private_key'],
  ...['secret', 'auth[token]', 'X-Control-Token', 'credentials', 'code_verifier', 'CLAIM_TOKEN'],
])('a field with the name %s is a credential', (name) => {
  expect(isSecretName(name)).toBe(true)
})

test.for([
  ...['max_tokens', 'total_tokens', 'key', 'idempotency_key', 'slash_key', 'authorization_secret_id'],
  ...['code', 'state', 'tokens_used', 'keyboard', 'passenger', 'compass', 'name', 'monkey'],
])('a field with the name %s is none', (name) => {
  expect(isSecretName(name)).toBe(false)
})

test('credentials of any depth are masked, and everything else stays', () => {
  const schema = { type: 'object', properties: { token: { type: 'string' } } }
  const value = {
    name: 'x',
    schema,
    password: 'p-1',
    inner: [{ apiKey: 'k-1', pin: 5 }],
    token: ['t-1', 't-2'],
    secret: 12,
    has: { secret: true, token: null },
    url: 'https://u:p-2@host/hook?access_token=t-3&page=2',
    text: '{"password": "p-3"}',
  }
  expect(withoutSecrets(value)).toEqual({
    ...value,
    password: '(redacted)',
    inner: [{ apiKey: '(redacted)', pin: 5 }],
    token: ['(redacted)', '(redacted)'],
    secret: '(redacted)',
    url: 'https://u:(redacted)@host/hook?access_token=(redacted)&page=2',
    text: '{"password": "(redacted)"}',
  })
  expect(secretsIn(value)).toEqual(['p-1', 'k-1', 't-1', 't-2', '12', 't-3', 'p-2', 'p-3'])
})

test('a value without credentials is returned itself', () => {
  const value = { name: 'x', list: [{ a: 1 }] }
  expect(withoutSecrets(value)).toBe(value)
})

test('code, state and nonce are credentials only beside a parameter of OAuth', () => {
  expect(withoutSecrets({ code: 'invalid', state: 'open' })).toEqual({ code: 'invalid', state: 'open' })
  const grant = { grant_type: 'authorization_code', code: 'c-1', state: 's-1' }
  expect(secretsIn(grant)).toEqual(['c-1', 's-1'])
  const callback = withoutSecretsInText('/callback?code=c-1&state=s-1&redirect_uri=x')
  expect(callback).toBe('/callback?code=(redacted)&state=(redacted)&redirect_uri=x')
  expect(withoutSecretsInText('{"code": "invalid", "state": "open"}')).not.toContain('redacted')
})

test.for<[text: string, shown: string]>([
  ['{"token":"a\\"b","n":1}', '{"token":"(redacted)","n":1}'],
  ["export const apiKey = 'abc'", "export const apiKey = '(redacted)'"],
  ['{"text":"{\\"api_key\\":\\"abc\\"}"}', '{"text":"{\\"api_key\\":\\"(redacted)\\"}"}'],
  ['client_secret=abc&x=1', 'client_secret=(redacted)&x=1'],
  ['sent Bearer abc.def-123 here', 'sent Bearer (redacted) here'],
  ['Basic information about a token', 'Basic information about a token'],
  ['type T = { password: string }', 'type T = { password: string }'],
])('in a text: %s', ([text, shown]) => {
  expect(withoutSecretsInText(text)).toBe(shown)
})

test('JSON text stays JSON, and its credentials are those of its value', () => {
  const name = fc.constantFrom('a', 'token', 'apiKey', 'note')
  // Texts that are JSON or a form themselves have credentials at other depths.
  const text = fc.string().map((each) => each.replaceAll(/[:=]/g, ''))
  const leaf = fc.oneof(text, fc.nat(), fc.constant(null))
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 3 }, leaf, fc.dictionary(name, tie('tree'))),
  }))
  forAll(tree, (value) => {
    const shown = JSON.parse(withoutSecretsInText(JSON.stringify(value)))
    // A number needs its field.
    expect(JSON.stringify(withoutSecrets(shown))).toBe(JSON.stringify(withoutSecrets(value)))
  })
})

test('a long text is searched in time that grows with its length', () => {
  for (const part of ['token', 'token:', 'token="', '\\', '://', ':', ' ', '"', 'a=', "'", '@', 'bearer ']) {
    const text = `token=x ${part.repeat(300_000)}`
    const began = process.cpuUsage().user
    withoutSecretsInText(text)
    expect((process.cpuUsage().user - began) / 1_000, part).toBeLessThan(3_000)
  }
})

test.for([
  ['Bearer live_x@w-1', 'Bearer <live_x>@w-1'],
  ['session=abc; theme=dark', 'session=<abc>; theme=<dark>'],
  ['Basic dXNlcg==', 'Basic <dXNlcg>=='],
  ['alone', '<alone>'],
] as const)('the credentials of the header "%s" are in "%s"', ([value, shown]) => {
  expect(mapCredentials(value, (word) => `<${word}>`)).toBe(shown)
})

test('common words, numbers and short texts are not masked in other places', () => {
  expect(['string', 'password', '12345', 'ab-1', ''].map(isDistinct)).toEqual(Array(5).fill(false))
  expect(['hunter2', 'Swordfish', 'correct horse', 'p@ssw0rd'].map(isDistinct)).toEqual(Array(4).fill(true))
})

test.for<[what: string, text: string]>([
  ['base64, such as that of an image', `data:image/png;base64,${'aGVsbG8gd29ybGQ+'.repeat(25_000)}`],
  ['names with dots', 'a.'.repeat(200_000)],
  ['questions', '?a'.repeat(200_000)],
  ['the start of tokens', 'eyJ-'.repeat(100_000)],
])('a text of 400,000 characters takes no more than its length: %s', ([, text]) => {
  for (const all of [true, false]) {
    const names = new Pseudonyms('secret', { words: [], free: [], ids: new Set(), all })
    const other = names.inside({ text: `${text} /a?sig=nature ann@mail.test` }).text
    expect([other.includes('nature'), other.includes('ann@mail.test')]).toEqual([false, all])
  }
})
