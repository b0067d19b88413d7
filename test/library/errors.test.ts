import { expect, test } from 'vitest'
import { connect, EmulatorError, type SandboxClient, startEmulator } from '../../src/index.ts'
import { freePort } from '../support/free-port.ts'
import { serving } from '../support/http-server.ts'
import { bothWays, refusalOf } from './both-ways.ts'

const { ways, emulator } = bothWays({ controlToken: 'open-sesame' })

const CIRCLE: { readonly id: string; self?: unknown } = { id: 'p' }
CIRCLE.self = CIRCLE

function nested(levels: number): unknown {
  let value: unknown = []
  for (let level = 1; level < levels; level += 1) value = [value]
  return value
}

const REFUSED: readonly (readonly [reason: string, call: (sandbox: SandboxClient) => Promise<unknown>])[] = [
  ['several wrong members', ({ clock }) => clock.set({ now: 'noon', rate: -1 })],
  ['a member that there is not', ({ clock }) => clock.advance({ by: '1s', bye: 1 } as never)],
  ['an unknown record', ({ faults }) => faults.get('none')],
  ['no scenario that is active', ({ scenarios }) => scenarios.stop()],
  ['a wrong query', ({ requests }) => requests.list({ status: 'often', limit: 0 })],
  ['a wrong document', ({ state }) => state.load({ format: 0 } as never)],
  ['a value with a circle', ({ state }) => state.put('pages', CIRCLE)],
  ['a number that JSON has not', ({ settings }) => settings.change({ models: 1n })],
  ['a value that is none', ({ stubs }) => stubs.create((() => {}) as never)],
  ['a body that nests too deep', ({ settings }) => settings.change({ models: nested(65) })],
  ['a body that nests beyond any stack', ({ settings }) => settings.change({ models: nested(50_000) })],
  ['a body that is too large', ({ settings }) => settings.change({ models: 'x'.repeat(1_048_577) })],
  ['half a character as an id', ({ state }) => state.get('pages', '\ud800')],
]

test.for(REFUSED)('%s is refused with the same error in process and over HTTP', async ([, call]) => {
  const refusals = await Promise.all(ways.map(([, client]) => refusalOf(call(client().defaultSandbox))))
  const [inProcess, overHttp] = refusals.map((refusal) => {
    expect(refusal).toBeInstanceOf(EmulatorError)
    const { status, code, message, detail, mitigation, issues } = refusal as EmulatorError
    expect(status).toBeGreaterThanOrEqual(400)
    for (const text of [code, detail]) expect(text).toMatch(/./)
    return { status, code, message, detail, mitigation, issues }
  })
  expect(overHttp).toEqual(inProcess)
})

test('an error names the call, every wrong field, and the fix', async () => {
  const refusal = await refusalOf(emulator().defaultSandbox.clock.set({ now: 'noon', rate: -1 }))
  const issues = [{ pointer: '/now' }, { pointer: '/rate' }]
  expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', issues })
  expect(String(refusal)).toMatch(/^EmulatorError: PATCH \/clock: /)
  expect(String(refusal)).toMatch(/not valid: \/now: .+\n {2}\/rate: /)
  const unknown = await refusalOf(emulator().defaultSandbox.faults.preset('rate-limitd'))
  expect(String(unknown)).toContain('"rate-limited"')
})

test('the error for an address without a server describes how to start an emulator', async () => {
  const port = await freePort()
  const client = connect(`http://127.0.0.1:${port}`)
  const refusal = await refusalOf(client.defaultSandbox.clock.show())
  expect(refusal).toMatchObject({ status: 0, code: 'no_answer', cause: { cause: { code: 'ECONNREFUSED' } } })
  expect(String(refusal)).toMatch(/Nothing listens at http:\/\/127\.0\.0\.1:\d+\. Start an emulator/)
  const { defaultSandbox: sandbox } = client
  for (const call of [() => sandbox.fetch('/pages'), () => first(sandbox.events()), () => client.sandbox()])
    expect(await refusalOf(call())).toMatchObject({ code: 'no_answer' })
  const message = expect.stringContaining('Nothing listens')
  await expect(client.ready({ timeoutMs: 2_000 })).rejects.toMatchObject({ code: 'not_ready', message })
})

test.for([
  ['an error page', 404, 'text/html', '<h1>Not here</h1>'],
  ['a page', 200, 'text/html', '<h1>Welcome</h1>'],
  ['another service', 200, 'application/json', '{"status": "fine"}'],
] as const)('if %s responds with %i, it is no emulator', async ([, status, type, text]) => {
  const { port } = await serving((_, res) => void res.writeHead(status, { 'Content-Type': type }).end(text))
  const client = connect(`http://127.0.0.1:${port}`)
  const { defaultSandbox: sandbox } = client
  for (const call of [() => client.ready(), () => client.sandbox(), () => sandbox.fetch('/pages')]) {
    const refusal = await refusalOf(call())
    expect(refusal).toMatchObject({ status, code: 'no_emulator' })
    expect(String(refusal)).toContain('Give the address that the emulator printed when it started.')
  }
  expect(await refusalOf(first(sandbox.events()))).toMatchObject({ code: 'no_emulator' })
})

test('a missing or wrong control token is refused, and health needs none', async () => {
  const { url } = emulator()
  const without = connect(url)
  const wrong = connect(url, { controlToken: 'guess' })
  expect((await without.health()).status).toBe('ok')
  expect(await refusalOf(without.defaultSandbox.clock.show())).toMatchObject({
    status: 401,
    code: 'unauthorized',
    message: expect.stringMatching(/requires a control token.+connect\(url, \{ controlToken \}\)/),
  })
  expect(String(await refusalOf(wrong.sandbox()))).toContain('does not accept this control token')
  expect(await refusalOf(first(wrong.defaultSandbox.events()))).toMatchObject({ status: 401 })
  expect(await refusalOf(without.ready())).toMatchObject({ status: 401 })
})

test('ready waits for an emulator that starts later', async () => {
  const port = await freePort()
  const waiting = connect(`http://127.0.0.1:${port}`)
  const ready = waiting.ready({ timeoutMs: 60_000 })
  await using _emulator = await startEmulator({ port, ephemeral: true })
  await ready
  expect(waiting.defaultSandbox.apiKey).toBe('live_demo_owner')
})

test.for([
  ['http://127.0.0.1:4010', 'default'],
  ['http://127.0.0.1:4010/', 'default'],
  ['http://127.0.0.1:4010/v1', 'default'],
  ['http://127.0.0.1:4010/__emulator/', 'default'],
  ['http://127.0.0.1:4010/@w3', 'w3'],
  ['HTTP://127.0.0.1:4010/@w3/v1', 'w3'],
] as const)('%s is the address of the sandbox %s', ([url, name]) => {
  const { defaultSandbox: sandbox, baseUrl, ...client } = connect(url)
  expect([client.url, sandbox.name, baseUrl]).toEqual(['http://127.0.0.1:4010', name, sandbox.baseUrl])
})

test.for(['', '127.0.0.1:4010', 'ftp://127.0.0.1', 'http://127.0.0.1:99999', 'http://127.0.0.1/?page=1'])(
  '"%s" is not a valid address of an emulator',
  (url) => {
    expect(() => connect(url)).toThrow(/is not the address of an emulator\. Give the address that it printed/)
  },
)

async function first<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item
  return undefined
}

test('an error names its sandbox unless it is the default one', async () => {
  const sandbox = await emulator().sandbox('harbor')
  const stopping = 'POST /scenarios/stop of the sandbox harbor: '
  expect(String(await refusalOf(sandbox.scenarios.stop()))).toContain(stopping)
  expect(String(await refusalOf(emulator().sandbox('Harbor')))).toContain('POST /sandboxes: ')
})

test('an unknown option is refused, with the nearest known one', async () => {
  const { url, defaultSandbox: sandbox, ready } = emulator()
  expect(() => connect(url, { token: 'open-sesame' } as object)).toThrow(
    'connect() has no option "token". Known options: controlToken, apiKey, fetch.',
  )
  await expect(ready({ timeoutMS: 10 } as object)).rejects.toThrow('Did you mean "timeoutMs"?')
  const wait = sandbox.requests.wait({ method: 'GET' }, { timeout: 10 } as object)
  await expect(wait).rejects.toThrow('requests.wait() has no option "timeout". Did you mean "timeoutMs"?')
  const advance = sandbox.clock.advance('1h', { signals: [] } as object)
  await expect(advance).rejects.toThrow('clock.advance() has no option "signals"')
})

test.runIf(process.platform === 'linux')(
  'a data folder that cannot be created is named at once',
  async () => {
    await expect(startEmulator({ port: 0, data: '/proc/x' })).rejects.toThrow(
      /^The data folder \/proc\/x cannot be written by this process \(user id \d+\): ENOENT: .*mkdir '\/proc\/x'\. Make it writable, choose another one with --data, or keep everything in memory with --ephemeral$/,
    )
  },
)
