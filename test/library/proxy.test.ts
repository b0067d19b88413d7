import http from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect, type EmulatorClient, startEmulator } from '../../src/index.ts'
import { command } from '../cli/in-process.ts'

const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** As NODE_USE_ENV_PROXY does: `fetch` and `node:http` send every request to a proxy, which cannot reach this machine. */
function useProxy(): void {
  const refuse = (): never => {
    throw new Error('went to the proxy')
  }
  class EnvHttpProxyAgent {
    readonly dispatch = refuse
  }
  const [dispatcher, agent] = [Reflect.get(globalThis, DISPATCHER), http.globalAgent]
  const set = (value: unknown) => Reflect.set(globalThis, DISPATCHER, value)
  set(new EnvHttpProxyAgent())
  http.globalAgent = Object.assign(new http.Agent(), { createConnection: refuse })
  onTestFinished(() => {
    set(dispatcher)
    http.globalAgent = agent
  })
}

/** Expects that API, control interface and events are those of the emulator. */
async function expectReached(client: EmulatorClient): Promise<void> {
  const sandbox = await client.sandbox()
  const response = await sandbox.fetch('/data-views')
  expect(await response.json()).toMatchObject({ object: 'list' })
  for await (const { type } of sandbox.events()) {
    expect(type).toBe('hello')
    break
  }
}

test('under a proxy, client, events and commands talk to an emulator on this machine directly', async () => {
  // The global dispatcher exists after the first fetch.
  await fetch('data:,')
  await using emulator = await startEmulator({ port: 0 })
  useProxy()
  await expect(fetch(emulator.url)).rejects.toThrow()
  for (const client of [emulator, connect(emulator.url)]) await expectReached(client)
  const { code, err } = await command(['status', '--url', emulator.url])
  expect([code, err]).toEqual([0, ''])
})

test('a global fetch that a test has replaced never answers for the emulator', async () => {
  await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  vi.stubGlobal('fetch', async () => new Response('mocked'))
  onTestFinished(() => void vi.unstubAllGlobals())
  for (const client of [emulator, connect(emulator.url)]) await expectReached(client)
})
