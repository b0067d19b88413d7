import http from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { connect, startEmulator } from '../../src/index.ts'
import { command } from '../cli/in-process.ts'

const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

/** As NODE_USE_ENV_PROXY does: `fetch` and `node:http` send every request to a proxy, which cannot reach this machine. */
function useProxy(): void {
  class EnvHttpProxyAgent {
    dispatch(): never {
      throw new Error('went to the proxy')
    }
  }
  class ProxyingAgent extends http.Agent {
    override createConnection(): never {
      throw new Error('went to the proxy')
    }
  }
  const [dispatcher, agent] = [Reflect.get(globalThis, DISPATCHER), http.globalAgent]
  const set = (value: unknown) => Reflect.set(globalThis, DISPATCHER, value)
  set(new EnvHttpProxyAgent())
  http.globalAgent = new ProxyingAgent()
  onTestFinished(() => {
    set(dispatcher)
    http.globalAgent = agent
  })
}

test('under a proxy, client, events and commands talk to an emulator on this machine directly', async () => {
  // The global dispatcher exists after the first fetch.
  await fetch('data:,')
  await using emulator = await startEmulator({ port: 0 })
  useProxy()
  await expect(fetch(emulator.url)).rejects.toThrow()
  for (const client of [emulator, connect(emulator.url)]) {
    const sandbox = await client.sandbox()
    expect((await sandbox.fetch('/pages', { json: { name: 'x' } })).status).toBe(200)
    for await (const { type } of sandbox.events()) {
      expect(type).toBeTypeOf('string')
      break
    }
  }
  const { code, err } = await command(['status', '--url', emulator.url])
  expect([code, err]).toEqual([0, ''])
})
