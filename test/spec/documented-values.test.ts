import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

const CATEGORIES = [
  ...['document_analysis', 'construction_project_management', 'financial_analysis', 'estimation'],
  ...['quality_and_safety', 'scheduling', 'contracts_and_legal', 'data_and_reporting', 'communication'],
  ...['research', 'general_productivity'],
]

const withRecords = (records: Readonly<Record<string, readonly object[]>> = {}) =>
  testEmulator({ collections: { ...sampleRecords, ...records } })

test('a promoted skill keeps its category, whichever it is', { tags: ['R035'] }, async () => {
  const skills = CATEGORIES.map((category) => ({ ...sampleRecords.skills?.[0], id: category, category }))
  const emulator = await withRecords({ skills })
  for (const category of CATEGORIES) {
    const { status, body } = await emulator.post(`/skills/${category}/promote`)
    expect([status, body.category, body.scope]).toEqual([200, category, 'account'])
  }
})

test.for([
  ['trigger_event', 255, (length: number) => `a:${'b'.repeat(length - 2)}`],
  ['name', 255, (length: number) => 'n'.repeat(length)],
  ['description', 1_000, (length: number) => 'd'.repeat(length)],
  ['run_conditions', 3_000, (length: number) => 'r'.repeat(length)],
] as const)('%s of a new trigger has at most %i characters', async ([field, most, text]) => {
  const emulator = await withRecords()
  const trigger = { trigger_source: 'file_sharing', trigger_event: 'Document:created' }
  const create = (length: number) =>
    emulator.post('/agents/agent-1/event-triggers', { ...trigger, [field]: text(length) })
  expect((await create(most)).status).toBe(200)
  const { status, body } = await create(most + 1)
  expect([status, body.details.errors[0].pointer]).toEqual([400, `/${field}`])
})

test('the shortest accepted values of a batch, and values that are one shorter', async () => {
  const emulator = await withRecords()
  const create = async (body: object, key = 'k') => {
    const headers = { 'Idempotency-Key': key }
    return (await emulator.post('/batch-predictions', { ...batchBody(), ...body }, { headers })).status
  }
  expect(await create({ model: 'm' })).toBe(200)
  expect(await create({ items: [{ file_id: '', custom_id: 'a' }] }, 'another')).toBe(400)
  expect(await create({}, 'k'.repeat(255))).toBe(200)
  expect(await create({}, 'k'.repeat(256))).toBe(400)
  expect(await create({}, '')).toBe(400)
})

test('a claim token of one character is accepted', async () => {
  const emulator = await withRecords({
    agent_templates: [{ ...sampleRecords.agent_templates?.[0], claim_token: 'c' }],
  })
  expect((await emulator.post('/agents/claim', { claim_token: 'c' })).status).toBe(200)
})
