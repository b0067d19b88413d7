import { createServer } from 'node:net'

/**
 * A port without a server; the next two ports are probably free, too. The system does not choose ports of this range,
 * so no test that runs at the same time gets it.
 */
export function freePort(): Promise<number> {
  const port = 20_000 + 3 * Math.floor(Math.random() * 4_000)
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(freePort()))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)))
  })
}
