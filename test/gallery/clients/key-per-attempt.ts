import { randomUUID } from 'node:crypto'
import type { Input, Service } from '../client.ts'

/** Creates a batch under a key, and repeats the request after a broken connection. */
export async function run({ baseUrl, apiKey, sleep }: Service, { batch }: Input): Promise<unknown> {
  // Bug:
  const keyOf = () => randomUUID()
  // Repair:
  // const key = randomUUID()
  // const keyOf = () => key
  // End.
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(`${baseUrl}/batch-predictions`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${apiKey}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': keyOf(),
        },
        body: JSON.stringify(batch),
      })
      return await response.json()
    } catch (error) {
      if (attempt === 3) throw error
      await sleep(500 * 2 ** attempt)
    }
  }
}
