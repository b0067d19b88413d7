import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { fewOf, harOf, KEYS, recordTraffic } from '../real-service/record.ts'
import { RealService } from '../real-service/service.ts'

type Fields = Record<string, unknown>

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Fields
}

let entries: Awaited<ReturnType<typeof recordTraffic>>['entries']

beforeAll(async () => {
  entries = fewOf((await recordTraffic()).entries)
})

/** The service, whose answers to some paths are changed; `requests` are those that it got. */
async function changedService(path: RegExp, change: (answer: Answer) => void) {
  const { base, close } = await new RealService().listen()
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    requests.push(`${request.method} ${request.url}`)
    const { authorization = '', 'content-type': type = 'application/json' } = request.headers
    const answer = await fetch(new URL(request.url ?? '', base), {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': type, 'accept-encoding': 'identity' },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    const { 'content-encoding': _, ...headers } = Object.fromEntries(answer.headers)
    const text = await answer.text()
    if (!path.test(request.url ?? ''))
      return void response
        .writeHead(answer.status, { ...headers, 'content-length': Buffer.byteLength(text) })
        .end(text)
    const changed: Answer = {
      status: answer.status,
      headers,
      body: text.startsWith('{') && !text.includes('\n') ? JSON.parse(text) : {},
    }
    change(changed)
    const written = JSON.stringify(changed.body)
    response
      .writeHead(changed.status, { ...changed.headers, 'content-length': Buffer.byteLength(written) })
      .end(written)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await close()
  })
  return { against: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`, requests }
}

const NONE = /^$/

/** Runs drift against a service, and returns the findings that blame the service. */
async function against(url: string, flags: readonly string[] = [], recorded: readonly unknown[] = entries) {
  const file = temporaryFile('traffic.har', harOf(recorded))
  const options = ['--against', url, '--key-env', 'REAL_KEY', '--json', '--fail-on', 'service']
  const { code, out, err } = await command(['drift', file, ...options, ...flags], { REAL_KEY: KEYS[0] })
  if (out === '') throw new Error(err)
  const { findings, live } = JSON.parse(out)
  const own = findings.filter(({ blame }: Fields) => blame === 'service')
  return {
    code,
    live,
    texts: own.map(({ kind, request, detail }: Fields) => `${kind} ${request}: ${detail}`),
  }
}

const reads = () =>
  entries.filter(({ request }) => request.method === 'GET' && !request.url.includes('/batch-predictions'))

test('a service that answers as recorded has no difference, and gets only reads, each once', async () => {
  const { against: url, requests } = await changedService(NONE, () => {})
  const { texts, code, live } = await against(url, [], reads())
  expect([texts, code]).toEqual([[], 0])
  expect(requests.length).toBe(live.sent)
  expect(new Set(requests).size).toBe(requests.length)
  expect(requests.every((each) => each.startsWith('GET '))).toBe(true)
})

test('a read that several recordings have is sent once', async () => {
  const { against: url, requests } = await changedService(NONE, () => {})
  const files = ['one.har', 'two.har'].map((name) => temporaryFile(name, harOf(reads())))
  const flags = ['--against', url, '--key-env', 'REAL_KEY', '--fail-on', 'service']
  const { code, err } = await command(['drift', ...files, ...flags], { REAL_KEY: KEYS[0] })
  expect([code, err]).toEqual([0, ''])
  expect(requests).not.toEqual([])
  expect(new Set(requests).size).toBe(requests.length)
})

const USERS = 'GET /organization/teamspaces/{teamspace_id}/users'
const SERVERS = 'GET /organization/mcp-servers'
const set = (fields: (body: Fields) => Fields) => (answer: Answer) => {
  answer.body = { ...answer.body, ...fields(answer.body) }
}
const items = (change: (item: Fields) => Fields) =>
  set(({ data }) => ({ data: (data as Fields[])?.map(change) }))

/** Ten changes of the running service, each with the only finding that it must lead to. */
const changes: readonly (readonly [
  name: string,
  path: RegExp,
  change: (answer: Answer) => void,
  finding: string,
])[] = [
  [
    'a field is gone',
    /mcp-servers/,
    items(({ icon_url: _, ...rest }) => rest),
    `gone ${SERVERS}: body /data/*/icon_url: is missing`,
  ],
  [
    'a field is new',
    /mcp-servers/,
    items((item) => ({ ...item, owner: 'Ada' })),
    `added ${SERVERS}: body /data/*/owner: is new`,
  ],
  [
    'a field has another type',
    /mcp-servers/,
    items((item) => ({ ...item, transport: 7 })),
    `changed ${SERVERS}: body /data/*/transport: is number instead of string`,
  ],
  ['a field of the list is new', /\/users/, set(() => ({ total: 7 })), `added ${USERS}: body /total: is new`],
  [
    'a field of the list is gone',
    /\/users/,
    set(() => ({ has_more: undefined })),
    `gone ${USERS}: body /has_more: is missing`,
  ],
  [
    'an inner field is gone',
    /\/users/,
    items((item) => ({ ...item, permissions: { agent_ids: [] } })),
    `gone ${USERS}: body /data/*/permissions/role: is missing`,
  ],
  [
    'the status is another one',
    /mcp-servers/,
    (answer) => {
      answer.status = 203
    },
    `changed ${SERVERS}: status: 203 instead of 200`,
  ],
  [
    'a request is refused',
    /data-views/,
    (answer) => {
      answer.status = 400
    },
    'changed GET /data-views: status: 400 instead of 200',
  ],
  [
    'a timestamp has another form',
    /mcp-servers/,
    items((item) => ({ ...item, created_at: '2026-02-03' })),
    `changed ${SERVERS}: body /data/*/created_at: must be an ISO 8601 date-time with a zone, such as 2025-01-31T09:30:00.000Z`,
  ],
  [
    'a header is gone',
    /consumption/,
    ({ headers }) => {
      delete headers['x-ratelimit-remaining']
    },
    'changed GET /organization/reports/consumption-breakdown: header X-RateLimit-Remaining: is missing',
  ],
]

test('there are ten changes of the service', () => expect(changes).toHaveLength(10))

test.each(changes)('%s: the service has changed', async (_, path, change, finding) => {
  const { against: url } = await changedService(path, change)
  const { texts, code } = await against(url, [], reads())
  expect([texts, code]).toEqual([[finding], 1])
})

test('with --writes, creations are repeated and their new ids are used', async () => {
  const { against: url, requests } = await changedService(NONE, () => {})
  const { texts, code } = await against(url, ['--writes'])
  expect([texts, code]).toEqual([[], 0])
  expect(requests).toContain('POST /api/v1/batch-predictions')
  expect(requests.filter((each) => /^GET .*\/results$/.test(each)).length).toBe(8)
})

test('a record that is gone is no drift, unless all are', async () => {
  const gone = (path: RegExp) =>
    changedService(path, (answer) => {
      answer.status = 404
      answer.body = { status_code: 404, error: 'missing', message: 'No.', retryable: false, details: {} }
    })
  const one = await against((await gone(/data-views/)).against, [], reads())
  expect([one.texts, one.live.notes.filter((each: string) => each.includes('gone'))]).toEqual([
    [],
    ['3 not compared: record gone'],
  ])
  const all = await against((await gone(/./)).against, [], reads())
  expect(all.code).toBe(1)
  expect(all.texts).toContain('gone GET /data-views: status: 404 instead of 200')
})

test('failures of the service and its rate limit are no evidence', async () => {
  const broken = await changedService(/./, (answer) => {
    answer.status = 503
  })
  expect(await against(broken.against, [], reads())).toMatchObject({ texts: [], code: 3 })
  const limited = await changedService(/./, (answer) => {
    answer.status = 429
    answer.headers['retry-after'] = '61'
  })
  const { texts, code, live } = await against(limited.against, [], reads())
  expect([texts, code, live.sent]).toEqual([[], 3, 1])
  expect(live.notes).toContain('1 not compared: refused by a rate limit (429), which ended the run')
})

test.for([
  ['0', 2, 2, 0],
  ['0', 3, 2, 1],
  // A date of the past: at once.
  ['Sun, 01 Mar 2020 09:00:00 GMT', 1, 1, 0],
  ['Sun, 01 Mar 2020 09:00:00 GMT', 3, 2, 1],
] as const)(
  'a 429 with Retry-After %s, %i times, is sent again %i times, and %i requests stay refused',
  async ([wait, refusals, again, refused]) => {
    let left: number = refusals
    const { against: url, requests } = await changedService(/data-views/, (answer) => {
      if (left-- <= 0) return
      answer.status = 429
      answer.headers['retry-after'] = wait
    })
    const { texts, code, live } = await against(url, [], reads())
    expect([texts, code]).toEqual([[], 0])
    expect(requests.filter((each, n) => requests.indexOf(each) < n)).toHaveLength(again)
    const notes = live.notes.filter((each: string) => each.endsWith('refused by a rate limit (429)'))
    expect(notes).toEqual(refused === 0 ? [] : ['1 not compared: refused by a rate limit (429)'])
  },
)

test('--budget bounds the requests, and a sanitised query is not sent', async () => {
  const { against: url, requests } = await changedService(NONE, () => {})
  const masked = structuredClone(reads())
  for (const { request } of masked) if (request.url.includes('/users?')) request.url += '&search=[redacted]'
  const { live } = await against(url, ['--budget', '3'], masked)
  expect([live.sent, requests.length]).toEqual([3, 3])
  expect(requests.join()).not.toContain('redacted')
  expect(live.notes).toContain('3 not compared: a sanitised path or query')
})

test('an address without TLS, a key that is missing and a service that is not there are refused with the way out', async () => {
  const file = temporaryFile('traffic.har', harOf(entries))
  const outcome = async (...flags: string[]) => {
    const { code, err } = await command(['drift', file, ...flags], { REAL_KEY: 'k' })
    return `${code} ${err}`
  }
  expect(await outcome('--against', 'http://api.example/v1', '--key-env', 'REAL_KEY')).toMatch(
    /^2 --against: .* not encrypted/,
  )
  expect(await outcome('--against', 'https://api.example/v1')).toMatch(/^2 --key-env is missing/)
  expect(await outcome('--against', 'https://api.example/v1', '--key-env', 'NO_KEY')).toMatch(
    /^2 --key-env: the environment has no variable NO_KEY/,
  )
  expect(await outcome('--against', 'http://127.0.0.1:2/v1', '--key-env', 'REAL_KEY')).toMatch(
    /^1 http:\/\/127.0.0.1:2 cannot be reached \(ECONNREFUSED\)/,
  )
})
