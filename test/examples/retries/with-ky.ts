import ky from 'ky'
import { type Batch, linesOf, type RunBatch, readAgain, untilTerminal } from './exchange.ts'

/** Ky retries until it has the head of a response. If the body breaks off, the caller has to read it again. */
export const runWithKy: RunBatch = async ({ baseUrl, apiKey }, batch, key) => {
  const client = ky.create({
    prefixUrl: baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    // The default of ten seconds covers a request with all of its retries, and a storm may last longer.
    timeout: false,
    retry: {
      limit: 5,
      // Safe only because of the key: without it, a repeated POST may take effect twice.
      methods: ['get', 'post'],
      // Limits Ky's own back-off, which starts at 0.3 s. Retry-After is not limited by it.
      backoffLimit: 100,
    },
  })
  const { id } = await client
    .post('batch-predictions', { json: batch, headers: { 'idempotency-key': key } })
    .json<Batch>()
  const path = `batch-predictions/${id}`
  await untilTerminal(() => readAgain(() => client(path).json<Batch>()))
  return linesOf(await readAgain(() => client(`${path}/results`).text()))
}
