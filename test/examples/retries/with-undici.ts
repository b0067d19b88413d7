import { Agent, RetryAgent, request } from 'undici'
import { type Batch, linesOf, type RunBatch, readAgain, untilTerminal } from './exchange.ts'

/**
 * The retry agent would go on in the middle of a body that broke off, by a Range request. The service knows none, so that half
 * a body is its caller's to read again.
 */
export const runWithUndici: RunBatch = async ({ baseUrl, apiKey }, batch, key) => {
  const dispatcher = new RetryAgent(new Agent(), {
    maxRetries: 5,
    // Only because of the key: without it, a POST that is sent again may be done twice.
    methods: ['GET', 'POST'],
    // Bounds its own back-off, which begins at half a second, and also what it takes from Retry-After: keep it above that.
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
