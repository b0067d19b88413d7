import { expect, test } from 'vitest'
import { baseCollections, KEYS } from '../support/base-state.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { testEmulator } from '../support/emulator.ts'
import { lastEntry, made, type Said, type Sent, sandboxOf, send } from '../support/send.ts'

const KEY = `Bearer ${KEYS.KU}`
const inHeader = (name: string | string[]): Said => ({ headers: { 'X-Emulator-Sandbox': name } })
const inKey = (name: string): Said => ({ authorization: `${KEY}@${name}` })

const statusAndId = ({ status, headers }: Sent) => [status, headers['x-emulator-request-id']]

const ways: readonly [way: string, prefix: string, said: Said][] = [
  ['path', '/@w1', {}],
  ['header', '', inHeader('w1')],
  ['token', '', inKey('w1')],
]

test.for(ways)('the %s selects the sandbox, which is created on first use', async ([way, prefix, said]) => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const page = { ...said, json: { name: 'Roof plan' } }
  const response = await send(emulator, 'POST', `${prefix}/v1/pages`, page)
  expect(statusAndId(response)).toEqual([200, 'w1-000001'])
  expect(made(emulator)).toEqual(['w1'])
  expect([...sandboxOf(emulator, 'w1').store.rows('pages').values()]).toEqual([response.body])
  expect(lastEntry(sandboxOf(emulator, 'w1'))).toMatchObject({ path: `${prefix}/v1/pages`, chosenBy: way })
  expect([emulator.digest(), emulator.sandbox.log.entries()]).toEqual([before, []])
})

test('a request without a sandbox uses the default sandbox, which can also be named', async () => {
  const emulator = await testEmulator()
  const said: [string, Said][] = [
    ['', {}],
    ['/@default', {}],
    ['', inHeader('default')],
    ['', inKey('default')],
  ]
  for (const [prefix, how] of said) {
    expect((await send(emulator, 'GET', `${prefix}/v1/data-views`, how)).status).toBe(200)
  }
  const chosen = emulator.sandbox.log.entries().map(({ chosenBy }) => chosenBy)
  expect(chosen).toEqual(['default', 'path', 'header', 'token'])
  expect(made(emulator)).toEqual([])
})

test('the path takes precedence over the header, and the header over the key', async () => {
  const emulator = await testEmulator()
  const both = { ...inHeader('w2'), ...inKey('w3') }
  const responses = [
    await send(emulator, 'GET', '/@w1/v1/data-views', both),
    await send(emulator, 'GET', '/v1/data-views', both),
    await send(emulator, 'GET', '/v1/data-views', inKey('w3')),
  ]
  // The suffix is not part of the key, also if the path or the header selects.
  expect(responses.map(statusAndId)).toEqual([
    [200, 'w1-000001'],
    [200, 'w2-000001'],
    [200, 'w3-000001'],
  ])
})

test('the key is the text before the last "@", in any form of the scheme', async () => {
  const emulator = await testEmulator()
  for (const authorization of [`bearer   ${KEYS.KU}@w1  `, `BEARER ${KEYS.KU}@w1`]) {
    expect((await send(emulator, 'GET', '/v1/data-views', { authorization })).status).toBe(200)
  }
  const doubled = await send(emulator, 'GET', '/v1/data-views', { authorization: `${KEY}@w2@w1` })
  expect(statusAndId(doubled)).toEqual([401, 'w1-000003'])
  const keyless = await send(emulator, 'GET', '/v1/data-views', { authorization: 'Bearer @w1' })
  expect(statusAndId(keyless)).toEqual([401, 'w1-000004'])
  expect(made(emulator)).toEqual(['w1'])
})

test('an "@" outside a bearer token selects no sandbox', async () => {
  const emulator = await testEmulator()
  for (const authorization of ['Basic me@w1', `${KEY}@w1 more`, `${KEY}@w1, ${KEY}@w2`, 'me@w1']) {
    const response = await send(emulator, 'GET', '/v1/data-views', { authorization })
    expect([authorization, response.status]).toEqual([authorization, 401])
  }
  expect(made(emulator)).toEqual([])
})

test('a large body is accepted for a key with a suffix as for a key without one', async () => {
  const emulator = await batchEmulator()
  const json = aBatch({ prompt: 'x'.repeat(1_200_000) })
  expect((await send(emulator, 'POST', '/v1/batch-predictions', { json })).status).toBe(200)
  const response = await send(emulator, 'POST', '/v1/batch-predictions', { json, ...inKey('w1') })
  expect(statusAndId(response)).toEqual([200, 'w1-000001'])
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
    for (const { body } of await refusedNames(inHeader(name)))
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
    const [problem] = await refusedNames({}, [`/@${name}`], '/v1/batch-predictions/b')
    expect(problem?.headers['content-type']).toBe('application/problem+json')
    expect(problem?.body.instance).toBe(`/@${name}/v1/batch-predictions/b`)
  },
)

test('a header repeated with the same value is accepted, and with two values it is refused', async () => {
  const emulator = await testEmulator()
  expect((await send(emulator, 'GET', '/v1/data-views', inHeader(['w1', 'w1']))).status).toBe(200)
  const response = await send(emulator, 'GET', '/v1/data-views', inHeader(['w2', 'w3']))
  expect([response.status, response.body.message]).toEqual([
    400,
    'The header X-Emulator-Sandbox has 2 different values.',
  ])
  expect(made(emulator)).toEqual(['w1'])
})

test('a key with an "@" is refused in a starting state and in a write', async () => {
  const [key] = baseCollections.api_keys as readonly { readonly token: string }[]
  const odd = { ...key, id: 'key-odd', token: 'live_me@home' }
  await expect(testEmulator({ collections: { api_keys: [odd] } })).rejects.toThrow(
    /api_keys\/\d+\/token: must have no "@"/,
  )
  const emulator = await testEmulator()
  const response = await emulator.control('PATCH', '/state/api_keys/key-owner', { token: 'live_me@home' })
  expect([response.status, response.body.details.errors]).toEqual([
    400,
    [{ pointer: '/token', detail: expect.stringContaining('selects a sandbox') }],
  ])
})

test('sandboxes share nothing: records, rate windows, idempotency keys, clocks and request ids are their own', async () => {
  const emulator = await batchEmulator({
    'limits.overrides': [{ operation: 'data-views.list', limit: 2, window_s: 60 }],
  })
  const once = { json: aBatch(), headers: { 'idempotency-key': 'once' } }
  const create = (name: string) => send(emulator, 'POST', `/@${name}/v1/batch-predictions`, once)
  const views = (name: string) => send(emulator, 'GET', `/@${name}/v1/data-views`)
  const [first, again, other] = [await create('w1'), await create('w1'), await create('w2')]
  expect(again.body).toEqual(first.body)
  for (const name of ['w1', 'w2']) {
    expect(sandboxOf(emulator, name).store.rows('batch_predictions').size).toBe(1)
  }
  expect(other.headers['x-emulator-request-id']).toBe('w2-000001')
  for (const status of [200, 200, 429]) expect((await views('w1')).status).toBe(status)
  expect((await views('w2')).headers['x-ratelimit-remaining']).toBe('1')
  await send(emulator, 'POST', '/@w1/__emulator/clock/advance', { json: { by: '1h' } })
  expect((await views('w1')).headers.date).toBe('Sun, 01 Mar 2026 13:00:00 GMT')
  expect((await views('w2')).headers.date).toBe('Sun, 01 Mar 2026 12:00:00 GMT')
  expect(emulator.state('batch_predictions')).toEqual([])
})

test('a limit counted by path has one window for all ways to select the sandbox', async () => {
  const emulator = await testEmulator({ settings: { 'limits.path_key': 'concrete' } })
  const left = []
  for (const [, prefix, said] of ways) {
    left.push((await send(emulator, 'GET', `${prefix}/v1/data-views`, said)).headers['x-ratelimit-remaining'])
  }
  const [first] = left
  expect(left).toEqual([first, String(Number(first) - 1), String(Number(first) - 2)])
})

test('the instance of a problem is the requested path', { tags: ['R245'] }, async () => {
  const emulator = await testEmulator()
  const response = await send(emulator, 'GET', '/@w1/v1/batch-predictions/none?x=1')
  expect([response.status, response.body.instance]).toEqual([404, '/@w1/v1/batch-predictions/none'])
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
