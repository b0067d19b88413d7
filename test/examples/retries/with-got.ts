import got from 'got'
import { type Batch, linesOf, type RunBatch, untilTerminal } from './exchange.ts'

/** Got buffers a response before it hands it on, so that its retries also mend one that breaks off in the middle. */
export const runWithGot: RunBatch = async ({ baseUrl, apiKey }, batch, key) => {
  const client = got.extend({
    prefixUrl: baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    retry: {
      limit: 5,
      // Only because of the key: without it, a POST that is sent again may be done twice.
      methods: ['GET', 'POST'],
      // Bounds its own back-off, which begins at a second. What Retry-After says is kept whatever this is.
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
