import { once } from 'node:events'
import { type IncomingMessage, request, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { EmulatorOptions } from '../../src/emulator/options.ts'
import { aBatch, type Emulator, startEmulator } from '../../src/index.ts'
import { dataFolder } from '../support/data-folder.ts'
import { serving } from '../support/http-server.ts'

/** Everything that Vitest can fake in a child process. A fake `nextTick` would stop the sockets of Node itself. */
const EVERYTHING = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'queueMicrotask',
  'Date',
  'performance',
  'hrtime',
] as const

const JSON_TYPE = { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' }

/** An emulator that starts, runs and closes while every timer is fake and nothing advances it. */
async function underFakeTimers(options: EmulatorOptions = {}): Promise<Emulator> {
  vi.useFakeTimers({ toFake: [...EVERYTHING] })
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, ...options })
  onTestFinished(async () => {
    await emulator.close()
    vi.useRealTimers()
  })
  return emulator
}

// Without the global fetch, which does not work with a fake queueMicrotask.
async function send(url: string, json?: unknown): Promise<{ status: number | undefined; body: string }> {
  const sent = request(url, { method: json === undefined ? 'GET' : 'POST', headers: JSON_TYPE })
  sent.end(json === undefined ? undefined : JSON.stringify(json))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: await text(response) }
}

async function receiver({ defaultSandbox: sandbox }: Emulator): Promise<Server> {
  const { server, port } = await serving((req, res) => void req.resume().on('end', () => res.end()))
  await sandbox.webhooks.create({ url: `http://127.0.0.1:${port}/` })
  return server
}

test('requests are answered over a socket and without one, and so are dashboard and control interface', async () => {
  const { baseUrl, controlUrl, url, fetch } = await underFakeTimers()
  expect((await send(`${baseUrl}/data-views`)).status).toBe(200)
  expect((await send(`${controlUrl}/clock`)).status).toBe(200)
  expect((await send(`${url}/__emulator/ui/`)).status).toBe(200)
  expect((await fetch(`${baseUrl}/data-views`, { headers: JSON_TYPE })).status).toBe(200)
})

test('a batch completes, and its webhook is delivered', async () => {
  const emulator = await underFakeTimers()
  const { baseUrl, defaultSandbox: sandbox } = emulator
  await receiver(emulator)
  await send(`${baseUrl}/batch-predictions`, aBatch())
  await sandbox.clock.advance('24h')
  expect((await sandbox.batches.list()).map(({ status }) => status)).toEqual(['completed'])
  expect((await sandbox.webhooks.deliveries()).map(({ status }) => status)).toEqual(['delivered'])
})

test('delays of a fault take real time', async () => {
  const { baseUrl, defaultSandbox: sandbox } = await underFakeTimers()
  const pace = { before_handler_ms: 2, before_head_ms: 2, chunks: [4], gap_ms: 5 }
  await sandbox.faults.arm({ match: 'everything', do: [{ pace }] })
  expect((await send(`${baseUrl}/data-views`)).body).toContain('"object":"list"')
})

test('a running clock runs its events', async () => {
  const emulator = await underFakeTimers({ rate: 100_000 })
  const server = await receiver(emulator)
  const arrived = once(server, 'request')
  await send(`${emulator.baseUrl}/batch-predictions`, aBatch())
  await arrived
})

test('state is saved in a data folder, and found again', async () => {
  const data = dataFolder()
  const first = await underFakeTimers({ data, ephemeral: false })
  await first.defaultSandbox.clock.advance('1h')
  const { now } = await first.defaultSandbox.clock.show()
  await first.close()
  const second = await underFakeTimers({ data, ephemeral: false })
  expect((await second.defaultSandbox.clock.show()).now).toBe(now)
})

test('a library that is imported after the timers were faked says so', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
    // Other files share the modules, and these have captured fake timers.
    vi.resetModules()
  })
  vi.resetModules()
  const late = await import('../../src/index.ts')
  await expect(late.startEmulator()).rejects.toThrow('Import it before the call of vi.useFakeTimers()')
})
