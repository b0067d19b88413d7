import type { Input, Service } from '../client.ts'

/** Creates a page, and repeats a refused request after its Retry-After. */
export async function run({ post, sleep }: Service, { name }: Input): Promise<unknown> {
  const create = () => post('/pages', { name })
  let response = await create()
  for (let retries = 0; response.status === 429 && retries < 4; retries++) {
    await response.arrayBuffer()
    await sleep(waitOf(response.headers))
    response = await create()
  }
  if (!response.ok) throw new Error(`POST /pages: ${response.status}`)
  return response.json()
}

function waitOf(headers: Headers): number {
  const header = headers.get('retry-after') ?? '1'
  // Bug:
  return (Number.parseInt(header, 10) || 0) * 1000
  // Repair:
  // if (/^\d+$/.test(header)) return Number(header) * 1000
  // return Date.parse(header) - Date.parse(headers.get('date') ?? header)
  // End.
}
