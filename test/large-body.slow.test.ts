import { expect, test } from 'vitest'
import { KEY } from './bench/servers.ts'
import { type Probed, startProbed } from './proofs/resources/probe.ts'
import { Stage } from './proofs/stage.ts'
import { creationOf } from './support/large-bodies.ts'

const MIB = 1024 * 1024

async function send({ port }: Probed, body: Buffer): Promise<number> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}/v1/batch-predictions`, {
    method: 'POST',
    headers,
    body,
  })
  await response.text()
  return response.status
}

test('bodies of 100 MiB are accepted in sequence, one byte more is refused, and no memory is retained', {
  tags: ['R270'],
}, async () => {
  await using stage = new Stage()
  const server = await startProbed(stage)
  const largest = creationOf(100 * MIB)
  const before = await server.look()
  for (let n = 0; n < 2; n++) expect(await send(server, largest)).toBe(200)
  // In MB: the bytes, their text and its longest string, for this body and the one before it.
  expect(server.resident().most).toBeLessThan(before.memory.rss + 800)
  expect(await send(server, creationOf(100 * MIB + 1))).toBe(413)
  const after = await server.look()
  expect(after.memory.live).toBeLessThan(before.memory.live + 20)
})
