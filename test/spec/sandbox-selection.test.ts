import { expect, test } from 'vitest'
import { baseCollections, KEYS } from '../support/base-state.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { testEmulator } from '../support/emulator.ts'
import { made, type Said, type Sent, sandboxOf, send } from '../support/send.ts'

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
  ['the name default in the key', '', inKey('default'), 'token', 'default', 200],
  ['a header twice with one value', '', inHeader(['w1', 'w1']), 'header', 'w1', 200],
  ['a suffix after a scheme in lower case', '', bearer(`bearer   ${KEYS.KU}@w1  `), 'token', 'w1', 200],
  ['a suffix after a scheme in capitals', '', bearer(`BEARER ${KEYS.KU}@w1`), 'token', 'w1', 200],
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
    if (name === 'default') return
    expect([emulator.digest(), emulator.sandbox.log.entries()]).toEqual([before, []])
  },
)

test('a large body is accepted for a key with a suffix as for a key without one', async () => {
  const emulator = await batchEmulator()
  const json = aBatch({ prompt: 'x'.repeat(1_200_000) })
  for (const said of [{}, inKey('w1')])
    expect((await send(emulator, 'POST', '/v1/batch-predictions', { ...said, json })).status).toBe(200)
})

const TOO_LONG = 'a'.repeat(64)

/** The refusals of a request, without and with a sandbox in its path. They create nothing and change nothing. */
async function refusedNames(said: Said, prefixes = ['', '/@w1'], path = '/v1/data-views'): Promise<Sent[]> {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const responses: Sent[] = []
  for (const prefix of prefixes) responses.push(await send(emulator, 'GET', `${prefix}${path}`, said))
  expect(responses.map(({ status }) => status)).toEqual(prefixes.map(() => 400))
  expect([made(emulator), emulator.digest()]).toEqual([[], before])
  return responses
}

test.for(['', 'W1', 'w_1', '-w1', 'w 1', 'w1, w2', '__proto__', TOO_LONG, '\u00e9', '..%2f', '%77'])(
  'the header "%s" is refused with the rule for names, and nothing changes',
  async (name) => {
    for (const path of ['/v1/data-views', '/__emulator/clock'])
      for (const { body } of await refusedNames(inHeader(name), ['', '/@w1'], path))
        expect(body).toMatchObject({
          error: 'bad_request',
          message: expect.stringContaining('header X-Emulator-Sandbox'),
          mitigation: expect.stringContaining('1 to 63 lower-case letters, digits and hyphens'),
        })
  },
)

test.for(['', 'W1', '-w1', 'w1!', TOO_LONG, '\u00e9'])(
  'the suffix "@%s" of a key is refused without repeating it, and nothing changes',
  async (name) => {
    for (const { body, text } of await refusedNames(inKey(name))) {
      expect(body.message).toMatch(/^The name of the sandbox in the API key \(after its last "@"\) /)
      if (name !== '') expect(text).not.toContain(name)
    }
  },
)

test.for(['', 'W1', '..%2f', '%2e%2e', 'w%31', '-w', 'w1@w2', TOO_LONG])(
  'the path /@%s is refused in the error format of the route',
  async (name) => {
    const [standard] = await refusedNames({}, [`/@${name}`])
    expect(standard?.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(standard?.body.error).toBe('bad_request')
    await refusedNames({}, [`/@${name}`], '/__emulator/clock')
    const [problem] = await refusedNames({}, [`/@${name}`], '/v1/batch-predictions/b?x=1')
    expect(problem?.headers['content-type']).toBe('application/problem+json')
    expect(problem?.body.instance).toBe(`/@${name}/v1/batch-predictions/b`)
  },
)

test('a header with two values is refused', async () => {
  for (const { body } of await refusedNames(inHeader(['w2', 'w3'])))
    expect(body.message).toBe('The header X-Emulator-Sandbox has 2 different values.')
})

test('a key with an "@" is refused in a starting state and in a write', async () => {
  const [key] = baseCollections.api_keys as readonly { readonly token: string }[]
  const odd = { ...key, id: 'key-odd', token: 'live_me@home' }
  const refused = testEmulator({ collections: { api_keys: [odd] } })
  await expect(refused).rejects.toThrow(/api_keys\/\d+\/token: must have no "@"/)
  const emulator = await testEmulator()
  const { status, body } = await emulator.control('PATCH', '/state/api_keys/key-owner', { token: odd.token })
  const issue = { pointer: '/token', detail: expect.stringContaining('selects a sandbox') }
  expect([status, body.details.errors]).toEqual([400, [issue]])
})

test('sandboxes share no records, rate windows, idempotency keys and request ids', async () => {
  const limit = { operation: 'data-views.list', limit: 2, window_s: 60 }
  const emulator = await batchEmulator({ 'limits.overrides': [limit] })
  const once = { json: aBatch(), headers: { 'idempotency-key': 'once' } }
  const create = (name: string) => send(emulator, 'POST', `/@${name}/v1/batch-predictions`, once)
  const views = (name: string) => send(emulator, 'GET', `/@${name}/v1/data-views`)
  const [first, again, other] = [await create('w1'), await create('w1'), await create('w2')]
  expect(again.body).toEqual(first.body)
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
