import { expect, test } from 'vitest'
import { KEYS } from '../support/base-state.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { testEmulator } from '../support/emulator.ts'
import { made, type Said, sandboxOf, send } from '../support/send.ts'

const KEY = `Bearer ${KEYS.KU}`
const inHeader = (name: string | string[]): Said => ({ headers: { 'X-Emulator-Sandbox': name } })
const inKey = (name: string): Said => ({ authorization: `${KEY}@${name}` })

const both = { ...inHeader('w2'), ...inKey('w3') }
const bearer = (value: string): Said => ({ authorization: value })

test.for<[what: string, prefix: string, said: Said, chosen: string, name: string, status: number]>([
  ['the path', '/@w1', {}, 'path', 'w1', 200],
  ['the header', '', inHeader('w1'), 'header', 'w1', 200],
  ['the suffix of the key', '', inKey('w1'), 'token', 'w1', 200],
  ['the path before the header and the key', '/@w1', both, 'path', 'w1', 200],
  ['the header before the key', '', both, 'header', 'w2', 200],
  ['nothing', '', {}, 'default', 'default', 200],
  ['the name default in the path', '/@default', {}, 'path', 'default', 200],
  ['the name default in the header', '', inHeader('default'), 'header', 'default', 200],
  ['a header twice with one value', '', inHeader(['w1', 'w1']), 'header', 'w1', 200],
  ['a suffix after a scheme in lower case', '', bearer(`bearer   ${KEYS.KU}@w1  `), 'token', 'w1', 200],
  ['the last "@" of a key', '', bearer(`${KEY}@w2@w1`), 'token', 'w1', 401],
  ['a suffix without a key', '', bearer('Bearer @w1'), 'token', 'w1', 401],
  ['the path of a request without a key', '/@w1', { authorization: undefined }, 'path', 'w1', 401],
  ['no "@" of another scheme', '', bearer('Basic me@w1'), 'default', 'default', 401],
  ['no "@" without a scheme', '', bearer('me@w1'), 'default', 'default', 401],
  ['no "@" before another word', '', bearer(`${KEY}@w1 more`), 'default', 'default', 401],
  ['no "@" in a list of keys', '', bearer(`${KEY}@w1, ${KEY}@w2`), 'default', 'default', 401],
])(
  '%s selects the sandbox, which is created on first use, and no other one changes',
  { tags: ['R121'] },
  async ([, prefix, said, chosenBy, name, status]) => {
    const emulator = await testEmulator()
    const before = emulator.digest()
    const page = { ...said, json: { name: 'Roof plan' } }
    const response = await send(emulator, 'POST', `${prefix}/v1/pages`, page)
    expect([response.status, response.headers['x-emulator-request-id']]).toEqual([status, `${name}-000001`])
    expect(made(emulator)).toEqual(name === 'default' ? [] : [name])
    const { store, log } = name === 'default' ? emulator.sandbox : sandboxOf(emulator, name)
    expect(log.entries()).toMatchObject([{ path: `${prefix}/v1/pages`, chosenBy }])
    expect([...store.rows('pages').values()]).toEqual(status === 200 ? [response.body] : [])
    if (name !== 'default') expect([emulator.digest(), emulator.sandbox.log.entries()]).toEqual([before, []])
  },
)

test('a large body is accepted for a key with a suffix as for a key without one', async () => {
  const emulator = await batchEmulator()
  const json = aBatch({ prompt: 'x'.repeat(1_200_000) })
  for (const said of [{}, inKey('w1')])
    expect((await send(emulator, 'POST', '/v1/batch-predictions', { ...said, json })).status).toBe(200)
})

// A name in the path is used, but does not hide a malformed one. Without it, `selection.test.ts` has every name.
test.for<[place: string, names: readonly string[], request: (name: string) => readonly [string, Said]]>([
  ['header X-Emulator-Sandbox', ['w_1', 'w1, w2', '__proto__', '\u00e9'], (name) => ['/@w1', inHeader(name)]],
  ['API key (after its last "@")', ['w1!', '\u00e9'], (name) => ['/@w1', inKey(name)]],
  ['path', ['..%2f', 'w%31', 'w1@w2'], (name) => [`/@${name}`, {}]],
])('malformed names in the %s are refused, and nothing changes', async ([place, names, request]) => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  for (const name of ['', 'W1', '-w1', 'a'.repeat(64), ...names]) {
    const [prefix, said] = request(name)
    const { status, body, text } = await send(emulator, 'GET', `${prefix}/v1/data-views`, said)
    expect([name, status, body.error]).toEqual([name, 400, 'bad_request'])
    expect(body.message).toContain(`The name of the sandbox in the ${place} `)
    // The name may be part of a key.
    expect(text.includes(name)).toBe(name === '')
    expect(body.mitigation).toContain('1 to 63 lower-case letters, digits and hyphens')
  }
  expect([made(emulator), emulator.digest()]).toEqual([[], before])
})

test('a header with two values is refused, as by the control interface, in the error format of the route', async () => {
  const emulator = await testEmulator()
  const said = inHeader(['w2', 'w3'])
  for (const [path, type] of [
    ['/__emulator/clock', 'application/json; charset=utf-8'],
    ['/@w1/v1/data-views', 'application/json; charset=utf-8'],
    ['/@w1/v1/batch-predictions/b', 'application/problem+json'],
  ] as const) {
    const { status, text, headers } = await send(emulator, 'GET', path, said)
    expect([path, status, headers['content-type']]).toEqual([path, 400, type])
    expect(text).toContain('The header X-Emulator-Sandbox has 2 different values.')
  }
  const problem = await send(emulator, 'GET', '/@W1/v1/batch-predictions/b?x=1')
  expect(problem.body.instance).toBe('/@W1/v1/batch-predictions/b')
  expect(made(emulator)).toEqual([])
})

test('sandboxes share no records, rate windows, idempotency keys and request ids', async () => {
  const limit = { operation: 'data-views.list', limit: 2, window_s: 60 }
  const emulator = await batchEmulator({ 'limits.overrides': [limit] })
  const once = { json: aBatch(), headers: { 'idempotency-key': 'once' } }
  const create = (name: string) => send(emulator, 'POST', `/@${name}/v1/batch-predictions`, once)
  const views = (name: string) => send(emulator, 'GET', `/@${name}/v1/data-views`)
  expect((await create('w1')).body).toEqual((await create('w1')).body)
  const other = await create('w2')
  expect(other.headers['x-emulator-request-id']).toBe('w2-000001')
  for (const name of ['w1', 'w2'])
    expect(sandboxOf(emulator, name).store.rows('batch_predictions').size).toBe(1)
  for (const status of [200, 200, 429]) expect((await views('w1')).status).toBe(status)
  expect((await views('w2')).headers['x-ratelimit-remaining']).toBe('1')
  expect(emulator.state('batch_predictions')).toEqual([])
})

test('a limit counted by path has one window for all ways to select the sandbox', async () => {
  const emulator = await testEmulator({ settings: { 'limits.path_key': 'concrete' } })
  for (const [prefix, said, left] of [
    ['/@w1', {}, '199'],
    ['', inHeader('w1'), '198'],
    ['', inKey('w1'), '197'],
  ] as const) {
    const { headers } = await send(emulator, 'GET', `${prefix}/v1/data-views`, said)
    expect(headers['x-ratelimit-remaining']).toBe(left)
  }
})

test('neither a malformed header nor the suffix of a key is kept in a log', async () => {
  const said: unknown[] = []
  const keep = (...args: unknown[]) => void said.push(args)
  const logger = { info: keep, warn: keep, error: keep }
  const emulator = await testEmulator({ logger })
  await send(emulator, 'GET', '/v1/data-views', inHeader('Sesame-1'))
  await send(emulator, 'GET', '/v1/data-views', inKey('Sesame-2'))
  await send(emulator, 'GET', '/v1/nowhere', inKey('sesame-3'))
  await send(emulator, 'GET', '/v1/data-views', inKey('sesame-3'))
  const logs = emulator.emulator.sandboxes.list().map(({ sandbox }) => sandbox.log.entries())
  expect(logs.flat().length).toBe(4)
  expect(JSON.stringify([logs, said])).not.toMatch(/Sesame|live_owner/)
})
