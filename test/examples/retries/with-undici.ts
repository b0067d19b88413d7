import { Agent, RetryAgent, request } from 'undici'
import { type Batch, linesOf, type RunBatch, readAgain, untilTerminal } from './exchange.ts'

/**
 * The retry agent would continue a broken body with a Range request. The service does not support Range, so the caller has to
 * read the body again.
 */
export const runWithUndici: RunBatch = async ({ baseUrl, apiKey }, batch, key) => {
  const dispatcher = new RetryAgent(new Agent(), {
    maxRetries: 5,
    // Safe only because of the key: without it, a repeated POST may take effect twice.
    methods: ['GET', 'POST'],
    // Limits its own back-off, which starts at half a second, and also Retry-After: choose a value above the expected ones.
    minTimeout: 50,
    maxTimeout: 30_000,
  })
  const authorization = `Bearer ${apiKey}`
  const get = async (path: string) => {
    const { body } = await request(`${baseUrl}/${path}`, { dispatcher, headers: { authorization } })
    return body.text()
  }
  const created = await request(`${baseUrl}/batch-predictions`, {
    dispatcher,
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(batch),
  })
  const { id } = (await created.body.json()) as Batch
  const path = `batch-predictions/${id}`
  await untilTerminal(async () => JSON.parse(await readAgain(() => get(path))) as Batch)
  const results = await readAgain(() => get(`${path}/results`))
  await dispatcher.close()
  return linesOf(results)
}
