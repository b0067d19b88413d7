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

test('port 0 selects a free port, and the bound address is returned', async () => {
  const bound = await listen(aServer(), { port: 0, host: 'localhost' })
  expect(bound.port).toBeGreaterThan(0)
  expect(['127.0.0.1', '::1']).toContain(bound.host)
})

test.for<[port: number, host: string, message: RegExp]>([
  [0, '192.0.2.1', /^192\.0\.2\.1 is not an address of this machine.*--host 127\.0\.0\.1/],
  [70_000, '127.0.0.1', /^70000 is not a port\. .*--port a whole number from 0 \(any free one\) to 65535\.$/],
])('the error for port %i of %s names what works', async ([port, host, message]) => {
  const refused = await listen(aServer(), { port, host }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ListenError)
  expect((refused as ListenError).message).toMatch(message)
})
