import { expect, test } from 'vitest'
import { aBatch, batchEmulator, createBatch, linesOf } from '../support/batches.ts'
import { consumptionRow } from '../support/consumption-row.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { sampleRecords } from '../support/sample-calls.ts'
import { send } from '../support/send.ts'
import { overSocket } from '../support/wire-client.ts'

const { files: _, ...records } = sampleRecords
const REPORT = '/organization/reports/consumption-breakdown'

function reportEmulator(): Promise<TestEmulator> {
  const instants = ['2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00.001Z']
  const consumption_rows = instants.map((at, n) => consumptionRow(`row-${n}`, at))
  return testEmulator({ collections: { consumption_rows } })
}

test.for<[start: string, rows: readonly string[], named: boolean]>([
  ['2026-02-01', ['row-2', 'row-1'], false],
  ['20260201', ['row-2', 'row-1'], true],
  ['2026-02-01T00:00Z', ['row-2', 'row-1'], true],
  ['20260201T000000,000Z', ['row-2', 'row-1'], true],
  ['2026-02-01T01:00:00%2B01', ['row-2', 'row-1'], true],
  ['2026-02-01T00Z', ['row-2', 'row-1'], true],
  ['2026-01-31T24:00:00Z', ['row-2', 'row-1'], true],
  ['2026-02-01T00:00:00.0005Z', ['row-2'], false],
  ['2026-02-01T00:00:00.0000Z', ['row-2', 'row-1'], false],
])('a report that starts at %s has the rows since that instant', async ([start, rows, named]) => {
  const { status, body, assumed } = await (await reportEmulator()).get(`${REPORT}?start_date=${start}`)
  expect([status, assumed.includes('U077')]).toEqual([200, named])
  expect(body.data.map(({ resource }: { resource: string }) => resource)).toEqual(rows)
})

test('a report that starts at a text in no form of a date is refused, which names the assumption', async () => {
  const { get } = await reportEmulator()
  for (const start of ['2026-W05', '2026-032', '2026-02', '2026-02-30', '2026-02-01T24:01Z', '2026-0201']) {
    const { status, assumed } = await get(`${REPORT}?start_date=${start}`)
    expect([start, status, assumed.includes('U077')]).toEqual([start, 400, true])
  }
})

test('rows finer than a millisecond are compared and ordered exactly', async () => {
  const instants = ['.000Z', '.0004Z', '.00041Z', '.0005Z', '.001Z'].map((end) => `2026-02-01T00:00:00${end}`)
  // The ids are in the opposite order, so that they do not decide it.
  const consumption_rows = instants.map((at, n) => consumptionRow(`row-${9 - n}`, at))
  const emulator = await testEmulator({ collections: { consumption_rows } })
  const rows = async (start: string, end: string) => {
    const { body } = await emulator.get(
      `${REPORT}?start_date=2026-02-01T00:00:00${start}&end_date=2026-02-01T00:00:00${end}`,
    )
    return body.data.map(({ created_at }: { created_at: string }) => created_at)
  }
  expect(await rows('Z', '.001Z')).toEqual(instants.toReversed())
  expect(await rows('.0004Z', '.00040Z')).toEqual([instants[1]])
  expect(await rows('.00040001Z', '.0005Z')).toEqual([instants[3], instants[2]])
  expect(await rows('Z', 'Z')).toEqual([instants[0]])
})

test('bytes that are no request get a problem on batch paths', async () => {
  const { emulator } = await testEmulator()
  for (const rest of ['Content-Length: x\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n']) {
    for (const path of ['/v1/batch-predictions', '/@default/v1/batch-predictions/b1/results?limit=1']) {
      const bytes = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${rest}`
      const { text } = await overSocket(emulator.port, bytes)
      expect(text).toMatch(/^HTTP\/1\.1 400 .*content-type: application\/problem\+json.*"status":400/is)
      expect(text).not.toContain('status_code')
    }
  }
})

test('errors.type_base has to be the base of a URL', async () => {
  const emulator = await testEmulator()
  const set = (base: string) => emulator.control('PATCH', '/settings', { 'errors.type_base': base })
  for (const base of ['https://errors.example.com/v1', 'urn:problems', '{emulator}/other'])
    expect([base, (await set(base)).status]).toEqual([base, 200])
  for (const base of ['errors', '/problems', 'https://', 'https://a/x?y', 'https://a/#x', 'https://a/ b']) {
    const { status, text: body } = await set(base)
    expect([base, status, body]).toEqual([base, 400, expect.stringContaining('must be an absolute URL')])
  }
})

test('a page shows parent as null only under its setting, in the OpenAPI document too; promote has a 400', async () => {
  const emulator = await testEmulator()
  const document = async () => (await emulator.control('GET', '/openapi.json?api=workspace')).body
  const isNullable = async () => JSON.stringify((await document()).components.schemas.Page.properties.parent)
  expect(await isNullable()).not.toContain('null')
  await emulator.control('PATCH', '/settings', { 'page.parent.missing': 'null' })
  expect(await isNullable()).toContain('null')
  expect((await document()).paths['/skills/{skill_id}/promote'].post.responses).toHaveProperty('400')
})

test('two lines of Idempotency-Key are refused, a key with a comma is not', async () => {
  const { emulator, post, sandbox } = await batchEmulator()
  const headers = { 'idempotency-key': ['one', 'two'] }
  const { status } = await send({ emulator }, 'POST', '/v1/batch-predictions', { json: aBatch(), headers })
  expect(status).toBe(400)
  expect(sandbox.log.entries().at(-1)?.assumed).toContain('U059')
  const withComma = { headers: { 'idempotency-key': 'one, two' } }
  expect((await post('/batch-predictions', aBatch(), withComma)).status).toBe(200)
})

test('has_messages keeps the conversations that have messages, or those that have none', async () => {
  const { get } = await testEmulator({ collections: records })
  const ids = async (query: string) =>
    (await get(`/conversations${query}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await ids('?has_messages=true')).toEqual(['conversation-1'])
  expect(await ids('?has_messages=false')).toEqual(['conversation-2'])
})

test('a 504 of a gateway has a page about 504', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/faults', { preset: 'ambiguous-gateway-5xx' })
  const { status, text } = await emulator.post('/pages', { name: 'x' })
  expect([status, text]).toEqual([504, expect.stringContaining('504 Gateway Timeout')])
})

test('a file of one page has 1 page', async () => {
  const files = [{ id: 'file-one', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 1 }]
  const emulator = await testEmulator({ collections: { files } })
  const { id } = await createBatch(emulator, { items: [{ custom_id: 'a', file_id: 'file-one', page: 2 }] })
  emulator.advance('1h')
  const [line] = await linesOf(emulator, id)
  expect(line.error.detail).toContain('has 1 page, not 2')
})

test('only the service key and admins see a teamspace without members', { tags: ['R031'] }, async () => {
  const { post, patch, get } = await testEmulator()
  const { id } = (await post('/organization/teamspaces', { name: 'New' }, { key: 'KS' })).body
  const path = `/organization/teamspaces/${id}`
  for (const key of ['KM', 'KO'] as const)
    expect((await patch(path, { access: 'open' }, { key })).status).toBe(404)
  expect((await patch(path, { access: 'open' })).body.access).toBe('open')
  expect((await patch(path, { name: 'Newer' }, { key: 'KS' })).body.name).toBe('Newer')
  for (const key of ['KS', 'KU'] as const) expect((await get(`${path}/users`, { key })).body.data).toEqual([])
})

test('a generated agent has a title from its prompt, or another one', async () => {
  const { post } = await testEmulator()
  const titleFor = async (body: object) => {
    const { claim_token } = (await post('/agents/generate', body)).body
    return (await post('/agents/claim', { claim_token })).body.title
  }
  const prompt = 'Check every invoice against its order.'
  expect(await titleFor({ prompt })).toMatch(/^Check every invoice against \w+$/)
  expect(await titleFor({})).toMatch(/./)
})

test('settings change statuses and the body limit', async () => {
  const statuses = { 'status.too_large': 400, 'status.unsupported_media': 406, 'http.body_limit': 100 }
  const emulator = await testEmulator({
    settings: { 'success.read': 203, 'success.update': 202, ...statuses },
  })
  expect((await emulator.get('/agents')).status).toBe(203)
  expect((await emulator.patch('/organization/teamspaces/ts-a', { name: 'x' })).status).toBe(202)
  expect((await emulator.post('/pages', { name: 'x'.repeat(100) })).status).toBe(400)
  expect((await emulator.post('/pages', undefined, { raw: 'x', type: 'text/plain' })).status).toBe(406)
})

test('a claim token may have one character', async () => {
  const template = { ...sampleRecords.agent_templates?.[0], claim_token: 'c' }
  const { post } = await testEmulator({ collections: { agent_templates: [template] } })
  expect((await post('/agents/claim', { claim_token: 'c' })).status).toBe(200)
})
