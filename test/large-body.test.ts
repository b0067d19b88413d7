import { expect, onTestFinished, test } from 'vitest'
import { load } from './bench/load.ts'
import { KEY, type Running, scratch, startOurs } from './bench/servers.ts'
import { creationOf } from './support/large-bodies.ts'

const MIB = 1024 * 1024

async function send({ port }: Running, body: Buffer): Promise<number> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const answer = await fetch(`http://127.0.0.1:${port}/v1/batch-predictions`, {
    method: 'POST',
    headers,
    body,
  })
  await answer.text()
  return answer.status
}

/** Waits until the server's memory is below a bound, for ten seconds at most; the memory in MiB. */
async function settled(server: Running, bound: number): Promise<number> {
  for (let n = 0; n < 100 && server.memory() > bound; n++)
    await new Promise((resolve) => setTimeout(resolve, 100))
  return server.memory()
}

test('R270 100 MiB are accepted one after the other, one byte more is not, and the memory comes back', async () => {
  const server = await startOurs(scratch())
  onTestFinished(() => server.stop())
  const users = { port: server.port, method: 'GET', path: '/v1/organization/teamspaces/ts-a/users', key: KEY }
  await load(users, 2_000, 8)
  const before = server.memory()
  const largest = creationOf(100 * MIB)
  expect([await send(server, largest), await send(server, largest)]).toEqual([200, 200])
  expect(await send(server, creationOf(100 * MIB + 1))).toBe(413)
  expect(await settled(server, before + 50)).toBeLessThan(before + 50)
})
