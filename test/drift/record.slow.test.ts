import { expect, test } from 'vitest'
import { collectGarbage } from '../support/collect-garbage.ts'
import { recordScript, serving } from './proxy.ts'

const CHUNK = Buffer.alloc(64 * 1024, 'x')
const CHUNKS = 800 // 50 MB

test('streams of 50 MB pass through with flat memory, and the recording says that their bodies are not kept', async () => {
  let most = 0
  const port = await serving(async (_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (let n = 0; n < CHUNKS; n++) {
      // At the pace of the reader: what the proxy holds back is not written.
      if (!response.write(CHUNK)) await new Promise((resolve) => response.once('drain', resolve))
      // Without what the garbage collector has yet to remove.
      if (n % 100 !== 0) continue
      collectGarbage()
      most = Math.max(most, process.memoryUsage().arrayBuffers)
    }
    response.end()
  })
  collectGarbage()
  const before = process.memoryUsage().arrayBuffers
  const { said, entries, code } = await recordScript(
    `http://127.0.0.1:${port}/v1`,
    `const sizes = []
    for (let n = 0; n < 3; n++) {
      let size = 0
      for await (const chunk of (await call('/batch-predictions/b1/results')).body) {
        size += chunk.length
        if (size % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      sizes.push(size)
    }
    say(sizes)`,
  )
  expect([code, said()]).toEqual([0, Array.from({ length: 3 }, () => CHUNK.length * CHUNKS)])
  const contents = entries().map(({ response }: { response: { content: object } }) => response.content)
  expect(contents).toEqual(Array.from({ length: 3 }, () => ({ size: -1, mimeType: 'application/x-ndjson' })))
  // Of 150 MB: at most 10 are kept of one body, and some are in the buffers of the sockets.
  expect((most - before) / 1_048_576).toBeLessThan(35)
}, 120_000)
