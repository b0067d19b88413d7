import { expect, test, vi } from 'vitest'
import { connect, startEmulator } from '../../src/index.ts'

test('a global fetch that a test has replaced never answers for the emulator', async () => {
  await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  vi.stubGlobal('fetch', async () => new Response('mocked'))
  try {
    const clients = [emulator.defaultSandbox, connect(emulator.url).defaultSandbox]
    for (const sandbox of clients) {
      const response = await sandbox.fetch('/data-views')
      expect(await response.json()).toMatchObject({ object: 'list' })
      expect((await sandbox.clock.show()).rate).toBe(0)
    }
    for await (const event of connect(emulator.url).defaultSandbox.events()) {
      expect(event.type).toBe('hello')
      break
    }
  } finally {
    vi.unstubAllGlobals()
  }
})
