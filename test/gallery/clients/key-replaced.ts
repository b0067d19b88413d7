import { randomUUID } from 'node:crypto'
import type { Input, Service } from '../client.ts'

/** Creates a batch under the key of the program. */
export function run(service: Service, { batch, key }: Input): Promise<unknown> {
  return create(service, { body: JSON.stringify(batch), headers: { 'Idempotency-Key': key }, retries: 2 })
}

interface Creation {
  readonly body: string
  readonly headers: Record<string, string>
  readonly retries: number
}

async function create({ baseUrl, apiKey, sleep }: Service, { body, headers, retries }: Creation) {
  const sent: Record<string, string> = { Authorization: `Bearer ${apiKey}`, ...headers }
  sent['Content-Type'] = 'application/json'
  // Bug:
  if (retries > 0) sent['Idempotency-Key'] = randomUUID()
  // Repair:
  // if (retries > 0) sent['Idempotency-Key'] ??= randomUUID()
  // End.
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(`${baseUrl}/batch-predictions`, { method: 'POST', headers: sent, body })
      return await response.json()
    } catch (error) {
      if (attempt === retries) throw error
      await sleep(500 * 2 ** attempt)
    }
  }
}
