import { RealService } from './service.ts'

export const KEYS = ['sk_live_9fK2mQ7xR4tZ8wLb', 'sk_live_5vN1cJ6yH3pD0sGe'] as const

interface Pair {
  readonly name: string
  readonly value: string
}

export interface Entry {
  startedDateTime: string
  time: number
  request: { method: string; url: string; headers: Pair[]; postData?: { mimeType: string; text: string } }
  response: {
    status: number
    headers: Pair[]
    content: { mimeType: string; text?: string; size: number; encoding?: string; _file?: string }
  }
}

export const harOf = (entries: readonly unknown[], version = '1.2') =>
  JSON.stringify({
    log: { version, creator: { name: 'test', version: '1' }, pages: [{ id: 'page_1', title: 'A' }], entries },
  })

export const BASE = 'https://api.workspace.test/v1'
export const AT = '2026-02-03T08:00:00.000Z'

const pairs = (all: object): Pair[] =>
  Object.entries(all).map(([name, value]) => ({ name, value: String(value) }))

/** @param rest the headers and the body of the request, and the type and further headers of the response */
export function entryOf(
  method: string,
  path: string,
  body: unknown,
  rest: { headers?: object; sent?: unknown; type?: string; answered?: object } = {},
): Entry {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const { headers = {}, sent, type = 'application/json', answered = {} } = rest
  return {
    ...{ startedDateTime: AT, time: 1 },
    request: {
      ...{ method, url: BASE + path, headers: pairs(headers) },
      ...(sent !== undefined && { postData: { mimeType: 'application/json', text: JSON.stringify(sent) } }),
    },
    response: {
      status: 200,
      headers: pairs({ ...(type !== '' && { 'content-type': type }), ...answered }),
      content: { mimeType: type, text, size: Buffer.byteLength(text) },
    },
  }
}

/** At most three exchanges of each kind, apart from those about batches: a part with the same differences. */
export function fewOf(entries: readonly Entry[]): Entry[] {
  const seen: Record<string, number> = {}
  return entries.filter(({ request, response }) => {
    const path = new URL(request.url).pathname.replaceAll(/[a-z]+_[\w-]+/g, '*')
    const kind = `${request.method} ${path} ${response.status}`
    seen[kind] = (seen[kind] ?? 0) + 1
    return seen[kind] <= 3 || path.includes('/batch-predictions')
  })
}

interface Answer {
  readonly status: number
  readonly headers: [string, string][]
  readonly text: string
}

/** Sends a request, also inside a page of a browser: it uses nothing of this module. */
export async function send(
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string },
): Promise<Answer> {
  const response = await fetch(url, init)
  return { status: response.status, headers: [...response.headers], text: await response.text() }
}

/**
 * 300 exchanges with the service of this folder, and the service afterwards.
 * @param through gives the address of a proxy
 * @param sending who sends the requests
 */
export async function recordTraffic(through?: (base: string) => Promise<string>, sending = send) {
  const service = new RealService()
  const { base: direct, close } = await service.listen()
  const base = (await through?.(direct)) ?? direct
  const entries: Entry[] = []
  const call = async (method: string, path: string, body?: unknown, key: string = KEYS[0]) => {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const headers = { authorization: `Bearer ${key}`, ...(sent && { 'content-type': 'application/json' }) }
    const response = await sending(`${base}${path}`, { method, headers, ...(sent && { body: sent }) })
    const { text, status } = response
    const answered = Object.fromEntries(response.headers)
    const type = answered['content-type'] ?? ''
    const entry = entryOf(method, path, text, { headers, sent: body, type, answered })
    entry.request.url = `${base}${path}`
    entry.response.status = status
    entries.push({ ...entry, startedDateTime: service.at() })
    return text.startsWith('{') ? JSON.parse(text.split('\n')[0] ?? '{}') : { id: '' }
  }
  try {
    await visit(call)
    while (entries.length < 300) await call('GET', `/agents?n=${entries.length}`)
  } finally {
    await close()
  }
  return { service, entries, base }
}

async function visit(
  call: (method: string, path: string, body?: unknown, key?: string) => Promise<{ id: string }>,
): Promise<void> {
  const users = '/organization/teamspaces/ts_north/users'
  for (const [n, name] of ['West yard', 'East yard'].entries()) {
    const made = await call('POST', '/organization/teamspaces', {
      name,
      ...(n > 0 && { access: 'closed', cloud_provider: 'nimbus' }),
    })
    await call('PATCH', `/organization/teamspaces/${made.id}`, { name: `${name} of Ada` })
  }
  for (const id of ['ts_north', 'ts_south']) await call('PATCH', `/organization/teamspaces/${id}`, {})
  for (let n = 0; n < 30; n++)
    await call('POST', '/pages', { name: `Minutes of Ada Lovelace ${n}` }, n % 5 ? KEYS[0] : KEYS[1])
  for (const path of [`${users}?limit=10`, `${users}?limit=10&after=usr_n16`, `${users}?limit=100`])
    await call('GET', path)
  await call('DELETE', `${users}/usr_n22`)
  await call('GET', '/organization/teamspaces/ts_south/users', undefined, KEYS[1])
  for (const id of ['skl_0', 'skl_1', 'skl_none']) await call('POST', `/skills/${id}/promote`)
  for (let n = 0; n < 8; n++) await call('GET', '/organization/mcp-servers', undefined, KEYS[n % 2])
  for (const offset of [0, 3, 6]) await call('GET', `/data-views?offset=${offset}&limit=3`)
  for (let n = -1; n < 45; n += 10)
    await call('GET', `/organization/reports/consumption-breakdown?limit=10${n < 0 ? '' : `&after=${n}`}`)
  for (let n = 0; n < 5; n++) {
    const agent = `/agents/agt_${n}`
    const automation = await call('POST', `${agent}/automations`, {
      name: `Weekly for Ada ${n}`,
      cron: '0 6 * * 1',
    })
    const trigger = await call('POST', `${agent}/event-triggers`, {
      trigger_source: ['buildr', 'docr', 'filr'][n % 3],
      trigger_event: 'File:created',
    })
    await call('PATCH', `${agent}/event-triggers/${trigger.id}`, {
      enabled: n > 2,
      name: `When Ada writes ${n}`,
    })
    for (const path of ['automations', 'event-triggers']) await call('GET', `${agent}/${path}`)
    if (n === 4) await call('DELETE', `${agent}/automations/${automation.id}`)
  }
  for (let n = 0; n < 8; n++) {
    const items = Array.from({ length: 3 + n }, (_, at) => ({
      file_id: `fil_${at}`,
      custom_id: `doc-${n}-${at}`,
    }))
    const metadata = { author: 'Ada Lovelace', reference: `NY-${n}` }
    const batch = await call('POST', '/batch-predictions', {
      prompt: 'Read.',
      output_schema: { type: 'object' },
      model: 'm-large',
      metadata,
      items,
    })
    const path = `/batch-predictions/${batch.id}`
    if (n === 7) await call('POST', `${path}/cancel`)
    for (let poll = 0; poll < 4; poll++) await call('GET', path)
    await call('GET', `${path}/results`)
  }
  for (let n = 0; n < 6; n++) await call('GET', `/conversations/cnv_${n}/messages`)
  for (let n = 0; n < 4; n++) await call('GET', '/conversations', undefined, KEYS[n % 2])
  for (let n = 0; n < 3; n++) await call('POST', '/converse', { text: 'Hello' })
  for (const path of ['/knowledge', '/knowledge/kn_1', '/connections', '/no/such/path'])
    await call('GET', path)
  await call('GET', '/agents', undefined, 'sk_live_wrong_key_000000')
}
