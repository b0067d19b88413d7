import type { Surroundings } from './client.ts'

/** Reads Retry-After of a 429 only: after a 503 with the same header it uses its shorter back-off. */
export async function run({ baseUrl, apiKey, sleep }: Surroundings): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(`${baseUrl}/data-views`, {
      headers: { authorization: `Bearer ${apiKey}` },
    })
    const body = await response.json()
    if (response.ok) return body
    const retried = response.status === 429 || response.status >= 500
    if (!retried || attempt === 4) throw new Error(`status ${response.status}`)
    if (response.status === 429) await sleep(Number(response.headers.get('retry-after') ?? 1) * 1000)
    else await sleep(100 * 2 ** attempt * (0.5 + Math.random() / 2))
  }
}
