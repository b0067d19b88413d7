import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { ListenError, listen } from './server.ts'

function aServer() {
  const server = createServer()
  onTestFinished(() => {
    server.close()
  })
  return server
}

async function failure(address: { port: number; host: string }): Promise<ListenError> {
  const outcome = await listen(aServer(), address).catch((error: unknown) => error)
  if (outcome instanceof ListenError) return outcome
  throw new Error(`expected a ListenError, got ${String(outcome)}`)
}

test('port 0 selects a free port, and the bound address is returned', async () => {
  const bound = await listen(aServer(), { port: 0, host: 'localhost' })
  expect(bound.port).toBeGreaterThan(0)
  expect(['127.0.0.1', '::1']).toContain(bound.host)
})

test('the error for a port in use names the port and the options for another one', async () => {
  const { port } = await listen(aServer(), { port: 0, host: '127.0.0.1' })
  const error = await failure({ port, host: '127.0.0.1' })
  expect(error.code).toBe('EADDRINUSE')
  expect(error.message).toBe(
    `Port ${port} on 127.0.0.1 is in use. Choose another with --port, or a free one with --port 0.`,
  )
})

test('a server that could not listen can listen at another address', async () => {
  const { port } = await listen(aServer(), { port: 0, host: '127.0.0.1' })
  const server = aServer()
  await expect(listen(server, { port, host: '127.0.0.1' })).rejects.toThrow(ListenError)
  expect((await listen(server, { port: 0, host: '127.0.0.1' })).port).not.toBe(port)
})

test('the error for an address of another machine names the hosts that work', async () => {
  const foreign = await failure({ port: 0, host: '192.0.2.1' })
  expect(foreign.message).toMatch(/^192\.0\.2\.1 is not an address of this machine.*--host 127\.0\.0\.1/)
})

test('an invalid port is reported', async () => {
  const error = await failure({ port: 70_000, host: '127.0.0.1' })
  expect(error.message).toBe(
    '70000 is not a port. Give --port a whole number from 0 (any free one) to 65535.',
  )
})
