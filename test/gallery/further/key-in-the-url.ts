import type { Surroundings } from './client.ts'

/**
 * Puts the API key into the query, where access logs and error messages keep it.
 * It sends the header too, because this service accepts a key there only.
 */
export async function run({ baseUrl, apiKey }: Surroundings): Promise<unknown> {
  const url = new URL(`${baseUrl}/data-views`)
  url.searchParams.set('apiKey', apiKey)
  const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } })
  const body = await response.json()
  if (!response.ok) throw new Error(`${response.status} of ${url}`)
  return body
}
