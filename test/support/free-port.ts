import { createServer } from 'node:net'

/**
 * A port at which nothing listens, and probably not at the two after it. It is not among those that the system chooses
 * from, so that no test that runs at the same time gets it.
 */
export function freePort(): Promise<number> {
  const port = 20_000 + 3 * Math.floor(Math.random() * 4_000)
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(freePort()))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)))
  })
}
