import { readFileSync } from 'node:fs'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { type EmulatorOptions, startEmulator } from '../../src/index.ts'
import { command } from '../cli/in-process.ts'
import { imported } from './imported.ts'
import { harOf, recordTraffic } from './record.ts'
import { lineOf } from './service.ts'

const KEPT = ['--keep-names', '--absolute']

let traffic: Awaited<ReturnType<typeof recordTraffic>>

beforeAll(async () => {
  traffic = await recordTraffic()
})

/** An emulator with imported fixtures, until the end of the test. */
async function started(options: EmulatorOptions) {
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, ...options })
  onTestFinished(() => emulator.close())
  const get = async (path: string, token = 'live_demo_owner') => {
    const response = await fetch(`${emulator.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const text = await response.text()
    const body = response.headers.get('content-type')?.startsWith('application/json')
      ? JSON.parse(text)
      : undefined
    return { status: response.status, text, body }
  }
  const { clock, faults } = emulator.defaultSandbox
  const records = (name: string) => emulator.defaultSandbox.state.list<Record<string, unknown>>(name)
  return { clock, faults, records, get }
}

test('with --keep-names and --absolute, the emulator answers with the newest recorded state of each record', async () => {
  const { service, entries } = traffic
  expect(entries).toHaveLength(300)
  const { report, out, settingsOut, read, err } = await imported(harOf(entries), KEPT)
  expect(err).toBe('')
  const emulator = await started({ fixtures: out, settings: read(settingsOut), clock: report.newest })
  const all = async (path: string) => {
    const { body, status } = await emulator.get(path)
    expect([path, status]).toEqual([path, 200])
    return body.data ?? body
  }
  const plain = ({ teamspace, agent, _emulator, ...rest }: Record<string, unknown>) => rest
  const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(canonical(row))).sort()
  const north = <T extends { teamspace: string }>(rows: readonly T[]) =>
    rows.filter(({ teamspace }) => teamspace === 'ts_north').map(plain)
  expect(sorted(await all('/organization/teamspaces/ts_north/users?limit=100'))).toEqual(
    sorted(service.users.ts_north ?? []),
  )
  expect(sorted((await all('/organization/mcp-servers')).map(withoutSignature))).toEqual(
    sorted(north(service.servers).map(withoutSignature)),
  )
  expect(sorted(await all('/data-views'))).toEqual(sorted(north(service.views)))
  expect(sorted(await all('/agents'))).toEqual(sorted(north(service.agents)))
  expect(sorted(await all('/conversations'))).toEqual(sorted(north(service.conversations)))
  for (const { id } of service.agents) {
    const mine = <T extends { agent: string }>(rows: readonly T[]) =>
      rows.filter(({ agent }) => agent === id).map(plain)
    expect(sorted(await all(`/agents/${id}/automations`))).toEqual(sorted(mine(service.automations)))
    expect(sorted(await all(`/agents/${id}/event-triggers`))).toEqual(sorted(mine(service.triggers)))
  }
  const window = 'start_date=2025-12-01&end_date=2026-02-03&limit=100'
  const rows = await all(`/organization/reports/consumption-breakdown?${window}`)
  expect(sorted(rows)).toEqual(sorted(service.rows))
  for (const { batch, items } of service.batches.values()) {
    const shown = await all(`/batch-predictions/${batch.id}`)
    // The service is below /api/v1, the emulator below /v1.
    const results_url = batch.results_url && String(batch.results_url).replace(/^\/api/, '')
    expect(shown).toEqual({ ...batch, results_url })
    const { text } = await emulator.get(`/batch-predictions/${batch.id}/results`)
    const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    const known = ({ custom_id, status, output }: Record<string, unknown>) => ({ custom_id, status, output })
    expect(lines.map(known)).toEqual(items.map((item, n) => known(lineOf(batch, item, n))))
  }
  // No path of the contract shows pages and messages: the records themselves are compared.
  expect(sorted(await emulator.records('pages'))).toEqual(sorted(service.pages))
  expect(sorted((await emulator.records('messages')).map(plain))).toEqual(sorted(service.messages))
  expect(await command(['validate', out, '--settings', settingsOut])).toMatchObject({ code: 0 })
  expect(await command(['validate', out])).toMatchObject({ code: 0 })
})

test('without these flags, records have the same ids, relations and counts, and other texts', async () => {
  const { entries } = traffic
  const [kept, replaced] = [await imported(harOf(entries), KEPT), await imported(harOf(entries))]
  const [before, after] = [kept.read(kept.out), replaced.read(replaced.out)]
  expect(Object.keys(after.collections)).toEqual(Object.keys(before.collections))
  for (const [name, rows] of Object.entries<Record<string, unknown>[]>(before.collections)) {
    if (name === 'consumption_rows') continue
    const ids = (each: Record<string, unknown>) =>
      JSON.stringify([each.id, each._emulator, each.teamspace_id, each.user_id])
    const idsOnly = name === 'batch_predictions' ? ({ id }: Record<string, unknown>) => id : ids
    expect(after.collections[name].map(idsOnly)).toEqual(rows.map(idsOnly))
    expect(after.collections[name].map((each: object) => Object.keys(each))).toEqual(
      rows.map((each) => Object.keys(each)),
    )
  }
  expect(readFileSync(replaced.out, 'utf8')).not.toMatch(/\bAda\b|Lovelace|Northrup|northyard\.test/)
  expect(await command(['validate', replaced.out])).toMatchObject({ code: 0 })
})

test('keys, faults, time and cursors work on imported records, and the report names the keys', async () => {
  const { out, report } = await imported(harOf(traffic.entries))
  expect(report.start).toContain('--fixtures')
  const emulator = await started({ fixtures: out })
  const first = await emulator.get('/organization/teamspaces/ts_north/users?limit=5')
  expect(first.body.data).toHaveLength(5)
  const after = first.body.data.at(-1).id
  const next = await emulator.get(`/organization/teamspaces/ts_north/users?limit=100&after=${after}`)
  expect(next.body.data).toHaveLength((traffic.service.users.ts_north?.length ?? 0) - 5)
  const outsider = await emulator.get('/organization/teamspaces/ts_north/users', 'live_demo_outsider')
  expect(outsider.status).toBe(404)
  expect(report.keys).toMatchObject([
    { key: 'live_demo_owner', user_id: 'usr_ada', teamspace_id: 'ts_north' },
    { key: 'live_demo_member', teamspace_id: 'ts_north' },
    { key: 'live_demo_outsider' },
    { key: 'service_demo' },
  ])
  await emulator.faults.arm({ match: { operation: 'data-views.list' }, do: [{ respond: { status: 503 } }] })
  expect((await emulator.get('/data-views')).status).toBe(503)
  const [batch] = [...traffic.service.batches.keys()]
  await emulator.clock.advance('30d')
  expect((await emulator.get(`/batch-predictions/${batch}/results`)).status).toBe(410)
})

test('records of paths without a contract go to collections of your own, and the report says how to answer the path', async () => {
  const { out, report, read } = await imported(harOf(traffic.entries), ['--keep-names'])
  expect(read(out).own.knowledge).toContainEqual(expect.objectContaining({ id: 'kn_1', size: 70 }))
  expect(report.endpoints).toEqual([
    'workspace-emulator endpoints add GET /conversations/{conversation_id}/messages',
    'workspace-emulator endpoints add GET /knowledge',
    'workspace-emulator endpoints add GET /knowledge/{knowledge_id}',
    'workspace-emulator endpoints add POST /converse',
  ])
})

const canonical = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, each]) => [key, canonical(each)]),
      )

// Signed URLs have neither their host nor their query.
const withoutSignature = ({ icon_url, ...rest }: Record<string, unknown>) => ({
  ...rest,
  icon_url: /\d+\.png/.exec(String(icon_url))?.[0],
})
