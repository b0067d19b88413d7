import type { Surroundings } from '../further/client.ts'

/** What a client of this folder gets. `isRepaired`: without its bug, as the fix of the finding says. */
export interface Call extends Pick<Surroundings, 'baseUrl' | 'apiKey' | 'sleep'> {
  readonly isRepaired: boolean
}

const JSON_TYPE = { 'content-type': 'application/json' }
const key = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` })

/** Keeps the encoded body as the value of the request, and so encodes it again in the next attempt. */
export async function bodyEncodedAgain({ baseUrl, apiKey, sleep, isRepaired }: Call): Promise<unknown> {
  let data: unknown = { name: 'Roof plan' }
  for (let attempt = 1; ; attempt++) {
    const body: string = isRepaired && typeof data === 'string' ? data : JSON.stringify(data)
    data = body
    const headers = { ...key(apiKey), ...JSON_TYPE }
    const response = await fetch(`${baseUrl}/pages`, { method: 'POST', headers, body })
    if (response.ok) return response.json()
    await response.text()
    if (response.status < 500 || attempt === 3) throw new Error(`status ${response.status}`)
    await sleep(1_000 * 2 ** (attempt - 1))
  }
}

/** Appends the parameters to the URL of the request before each attempt. */
export async function queryAppended({ baseUrl, apiKey, sleep, isRepaired }: Call): Promise<unknown> {
  const url = new URL(`${baseUrl}/organization/teamspaces/teamspace-harbor/users`)
  for (let attempt = 1; ; attempt++) {
    if (attempt === 1 || !isRepaired) url.searchParams.append('limit', '5')
    const response = await fetch(url, { headers: key(apiKey) })
    if (response.ok) return response.json()
    await response.text()
    if (response.status < 500 || attempt === 3) throw new Error(`status ${response.status}`)
    await sleep(1_000 * 2 ** (attempt - 1))
  }
}

/** Removes the Authorization header before an attempt, in the belief that it is added again. */
export async function keyRemoved({ baseUrl, apiKey, sleep, isRepaired }: Call): Promise<unknown> {
  const headers = new Headers(key(apiKey))
  for (let attempt = 1; ; attempt++) {
    if (attempt > 1 && !isRepaired) headers.delete('authorization')
    const response = await fetch(`${baseUrl}/data-views`, { headers })
    if (response.ok) return response.json()
    await response.text()
    if (response.status < 500 || attempt === 3) throw new Error(`status ${response.status}`)
    await sleep(1_000 * 2 ** (attempt - 1))
  }
}

/** Its function for retries does not pass on the type of the body. */
export async function typeLost({ baseUrl, apiKey, sleep, isRepaired }: Call): Promise<unknown> {
  const send = (headers: Record<string, string>) =>
    fetch(`${baseUrl}/pages`, { method: 'POST', headers, body: '{"name":"Roof plan"}' })
  const first = await send({ ...key(apiKey), ...JSON_TYPE })
  if (first.ok) return first.json()
  await first.text()
  await sleep(1_000)
  const second = await send({ ...key(apiKey), ...(isRepaired && JSON_TYPE) })
  if (second.ok) return second.json()
  throw new Error(`status ${second.status}`)
}

/** Polls as long as a view is open, also when the record is gone. */
export async function deletedRecordPolled({ baseUrl, apiKey, sleep, isRepaired }: Call): Promise<unknown> {
  const headers = { ...key(apiKey), ...JSON_TYPE }
  const created = await fetch(`${baseUrl}/batch-predictions`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': 'order-1' },
    body: JSON.stringify({
      prompt: 'Read the total.',
      output_schema: { type: 'object' },
      model: 'any-model',
      items: [{ file_id: 'file-invoice-1', custom_id: 'a' }],
    }),
  })
  const { id } = (await created.json()) as { readonly id: string }
  let status = ''
  for (let poll = 0; poll < 40; poll++) {
    const response = await fetch(`${baseUrl}/batch-predictions/${id}`, { headers: key(apiKey) })
    const body = (await response.json()) as { readonly status?: string }
    if (response.ok) status = body.status ?? status
    else if (isRepaired && response.status === 404) throw new Error(`${id} does not exist any more`)
    if (status === 'completed') return status
    await sleep(3_000)
  }
  return status
}

/** Sends a refused key again, because it has not expired by its own calendar. */
export async function refusedKeySentAgain({ baseUrl, apiKey, sleep, isRepaired }: Call): Promise<unknown> {
  const isExpired = () => false
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${baseUrl}/data-views`, { headers: key(apiKey) })
    if (response.ok) return response.json()
    await response.text()
    const mayRepeat = isRepaired ? attempt < 2 : !isExpired() && attempt < 6
    if (response.status !== 401 || !mayRepeat) throw new Error(`status ${response.status}`)
    await sleep(500)
  }
}

/** A decorator repeats the call after every exception, a missing permission included. */
export async function refusalRepeated({ baseUrl, apiKey, sleep, isRepaired }: Call): Promise<unknown> {
  const call = async () => {
    const response = await fetch(`${baseUrl}/data-views`, { headers: key(apiKey) })
    if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status })
    return response.json()
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      const { status } = error as { readonly status?: number }
      if (attempt === 5 || (isRepaired && status === 403)) throw error
      await sleep(1_000 * 2 ** (attempt - 1))
    }
  }
}

/** Remembers the last cursor only: a cycle of two has no end. */
export async function cursorCycleFollowed({ baseUrl, apiKey, isRepaired }: Call): Promise<unknown> {
  const seen = new Set<string>()
  const rows: unknown[] = []
  for (let after = '', pages = 0; pages < 40; pages++) {
    const path = `/organization/teamspaces/teamspace-harbor/users?limit=5${after && `&after=${after}`}`
    const response = await fetch(`${baseUrl}${path}`, { headers: key(apiKey) })
    const { data, has_more } = (await response.json()) as { data: { id: string }[]; has_more: boolean }
    rows.push(...data)
    const next = data.at(-1)?.id ?? ''
    if (!has_more) return rows
    if (next === after || (isRepaired && seen.has(next))) throw new Error(`the cursor ${next} came twice`)
    seen.add(next)
    after = next
  }
  return rows
}
