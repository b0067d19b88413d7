import type { Surroundings } from './client.ts'

const FINAL = ['unauthorized', 'not_found', 'forbidden']

/** Decides by a list of error codes what not to retry: the code of a validation error is not in the list. */
export async function run({ baseUrl, apiKey, sleep }: Surroundings): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(`${baseUrl}/organization/teamspaces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Contracts', access: 'secret' }),
    })
    const body = (await response.json()) as { readonly error: string }
    if (response.ok) return body
    if (FINAL.includes(body.error) || attempt === 2) throw new Error(`${response.status} ${body.error}`)
    await sleep(1000 * 2 ** attempt * (0.9 + Math.random() / 5))
  }
}
