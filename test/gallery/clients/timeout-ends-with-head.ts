import type { Input, Service } from '../client.ts'

/** Reads a batch, and gives up when the service takes too long. */
export async function run({ baseUrl, apiKey, timeout }: Service, { id }: Input): Promise<unknown> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error('the time is over')), timeout)
  try {
    const response = await fetch(`${baseUrl}/batch-predictions/${id}`, {
      headers: { Authorization: `Bearer ${apiKey}` },
      signal: controller.signal,
    })
    // Bug:
    clearTimeout(timer)
    // Repair:
    // End.
    return await response.json()
  } finally {
    clearTimeout(timer)
  }
}
