import got from 'got'
import { type Batch, linesOf, type RunBatch, untilTerminal } from './exchange.ts'

/** Got buffers a response before it returns it, so its retries also cover a response that breaks off in the middle. */
export const runWithGot: RunBatch = async ({ baseUrl, apiKey }, batch, key) => {
  const client = got.extend({
    prefixUrl: baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    retry: {
      limit: 5,
      // Safe only because of the key: without it, a repeated POST may take effect twice.
      methods: ['GET', 'POST'],
      // Limits Got's own back-off, which starts at one second. Retry-After is not limited by it.
      backoffLimit: 100,
    },
  })
  const { id } = await client
    .post('batch-predictions', { json: batch, headers: { 'idempotency-key': key } })
    .json<Batch>()
  const path = `batch-predictions/${id}`
  await untilTerminal(() => client(path).json<Batch>())
  return linesOf(await client(`${path}/results`).text())
}
