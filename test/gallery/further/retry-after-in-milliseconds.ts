import type { Surroundings } from './client.ts'

/** Takes the seconds of Retry-After for milliseconds. */
export async function run({ baseUrl, apiKey, sleep }: Surroundings): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${baseUrl}/data-views`, {
      headers: { authorization: `Bearer ${apiKey}` },
    })
    const body = await response.json()
    if (response.ok) return body
    if (response.status !== 429 || attempt === 4) throw new Error(`status ${response.status}`)
    const retryAfterMilliseconds = Number(response.headers.get('retry-after') ?? 1000)
    await sleep(retryAfterMilliseconds)
  }
}
