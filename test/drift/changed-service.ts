import { expect, onTestFinished, test } from 'vitest'
import { command, temporaryFile } from '../cli/in-process.ts'
import { fewOf, harOf, KEYS, recordTraffic } from '../real-service/record.ts'
import { RealService, type Answer as ServiceAnswer } from '../real-service/service.ts'

type Fields = Record<string, unknown>

type Answer = ServiceAnswer & { body: Fields }

type Entries = Awaited<ReturnType<typeof recordTraffic>>['entries']

let recorded: Promise<Entries> | undefined

/** A few exchanges with the service, recorded once. */
export async function entriesOf(): Promise<Entries> {
  recorded ??= recordTraffic().then(({ entries }) => fewOf(entries))
  return recorded
}

/** Those of them that only read. */
export async function reads(): Promise<Entries> {
  return (await entriesOf()).filter(
    ({ request }) => request.method === 'GET' && !request.url.includes('/batch-predictions'),
  )
}

/** The service, whose answers to some paths are changed; `requests` are those that it got. */
export async function changedService(path: RegExp, change: (answer: Answer) => void) {
  const service = new RealService((url, answer) => path.test(url) && change(answer as Answer))
  const { base, close } = await service.listen()
  onTestFinished(async () => void (await close()))
  return { against: base, requests: service.requests }
}

export const NONE = /^$/

/** Runs drift against a service, and returns the findings that blame the service. */
export async function against(url: string, flags: readonly string[] = [], exchanges?: readonly unknown[]) {
  const file = temporaryFile('traffic.har', harOf(exchanges ?? (await entriesOf())))
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

const USERS = 'GET /organization/teamspaces/{teamspace_id}/users'
const SERVERS = 'GET /organization/mcp-servers'
const set = (fields: (body: Fields) => Fields) => (answer: Answer) => {
  answer.body = { ...answer.body, ...fields(answer.body) }
}
const items = (change: (item: Fields) => Fields) =>
  set(({ data }) => ({ data: (data as Fields[])?.map(change) }))
const withStatus = (status: number) => (answer: Answer) => {
  answer.status = status
}

/** Changes of the running service, each with the only finding that it must lead to. */
export const changes: readonly (readonly [
  path: RegExp,
  change: (answer: Answer) => void,
  finding: string,
])[] = [
  [
    /mcp-servers/,
    items(({ icon_url: _, ...rest }) => rest),
    `gone ${SERVERS}: body /data/*/icon_url: is missing`,
  ],
  [
    /mcp-servers/,
    items((item) => ({ ...item, transport: 7 })),
    `changed ${SERVERS}: body /data/*/transport: is number instead of string`,
  ],
  [/\/users/, set(() => ({ total: 7 })), `added ${USERS}: body /total: is new`],
  [
    /\/users/,
    items((item) => ({ ...item, permissions: { agent_ids: [] } })),
    `gone ${USERS}: body /data/*/permissions/role: is missing`,
  ],
  [/data-views/, withStatus(400), 'changed GET /data-views: status: 400 instead of 200'],
  [
    /mcp-servers/,
    items((item) => ({ ...item, created_at: '2026-02-03' })),
    `changed ${SERVERS}: body /data/*/created_at: must be an ISO 8601 date-time with a zone, such as 2025-01-31T09:30:00.000Z`,
  ],
  [
    /consumption/,
    ({ headers }) => {
      delete headers['x-ratelimit-remaining']
    },
    'changed GET /organization/reports/consumption-breakdown: header X-RateLimit-Remaining: is missing',
  ],
]

/** Tests that a change of the service is the only finding. */
export function testServiceChanges(cases: typeof changes): void {
  test.each(cases.map(([path, change, finding]) => ({ path, change, finding })))(
    'the service has changed: $finding',
    async ({ path, change, finding }) => {
      const { against: url } = await changedService(path, change)
      const { texts, code } = await against(url, [], await reads())
      expect([texts, code]).toEqual([[finding], 1])
    },
  )
}
