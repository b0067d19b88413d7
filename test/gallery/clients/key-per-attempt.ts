import { randomUUID } from 'node:crypto'
import type { Input, Service } from '../client.ts'

/** Creates a batch under a key, and repeats the request after a broken connection. */
export async function run({ post, sleep }: Service, { batch }: Input): Promise<unknown> {
  // Bug:
  const keyOf = () => randomUUID()
  // Repair:
  // const key = randomUUID()
  // const keyOf = () => key
  // End.
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await post('/batch-predictions', batch, { 'Idempotency-Key': keyOf() })
      return await response.json()
    } catch (error) {
      if (attempt === 3) throw error
      await sleep(500 * 2 ** attempt)
    }
  }
}
