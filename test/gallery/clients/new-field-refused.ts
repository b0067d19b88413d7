import type { Input, Service } from '../client.ts'

const KNOWN = /^(object|id|status|model|completion_window|\w+_at|request_counts|metadata|error|results_url)$/

/** Creates a batch, checks the response, and repeats a failed attempt under the same key. */
export async function run({ post, sleep }: Service, { batch, key }: Input): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await post('/batch-predictions', batch, { 'Idempotency-Key': key })
      const created = (await response.json()) as Record<string, unknown>
      // Bug:
      const unknown = Object.keys(created).filter((name) => !KNOWN.test(name))
      if (unknown.length > 0) throw new Error(`unknown field ${unknown.join(', ')}`)
      // Repair:
      // if (typeof created.id !== 'string') throw new Error('the response is no batch')
      // End.
      return created
    } catch (error) {
      if (attempt === 3) throw error
      await sleep(500 * 2 ** attempt)
    }
  }
}
