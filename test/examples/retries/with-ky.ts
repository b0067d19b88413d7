import ky from 'ky'
import { type Batch, linesOf, type RunBatch, readAgain, untilTerminal } from './exchange.ts'

/** Ky repeats a request until it has the head of a response. What breaks behind the head is its caller's to read again. */
export const runWithKy: RunBatch = async ({ baseUrl, apiKey }, batch, key) => {
  const client = ky.create({
    prefixUrl: baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    // Its usual ten seconds are for a request and all of its retries together, and storms last.
    timeout: false,
    retry: {
      limit: 5,
      // Only because of the key: without it, a POST that is sent again may be done twice.
      methods: ['get', 'post'],
      // Bounds its own back-off, which begins at 0.3 s. What Retry-After says is kept whatever this is.
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
