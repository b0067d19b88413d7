import { expect, test } from 'vitest'
import { batches } from '../../../src/service/batch-predictions/batches.ts'
import {
  aBatch,
  batchEmulator,
  bring,
  counts,
  createBatch,
  intervene,
  linesOf,
  pointersOf,
  retrieve,
} from '../../support/batches.ts'
import type { TestEmulator } from '../../support/emulator.ts'

/** Creates a batch of ten items, finishes four, then brings the batch to a status. */
async function endedHalfway(emulator: TestEmulator, status: string) {
  const { id } = await createBatch(emulator, { items: 10 })
  emulator.advance('2400ms')
  return await bring(emulator, id, status)
}

const ODD_IDS = [
  ...['"quoted"', 'a\nb', 'a\r\nb', 'a\u2028b\u2029c', '\ud800', '\u0000', '__proto__', '\\', '</script>'],
  ...['\u{1F600}'.repeat(128), 'x'.repeat(128)],
]

const ITEM_PACE = { 'batch.pace': { in_progress: { per_item: '100ms', concurrency: 1 } } }

const halfway = () =>
  batchEmulator({ ...ITEM_PACE, 'batch.outcomes': [{ match: { index: 2 }, status: 'errored' }] })

test.for([
  ['completed', { succeeded: 9, errored: 1 }],
  ['failed', { succeeded: 3, errored: 7 }],
  ['expired', { succeeded: 3, errored: 1, expired: 6 }],
  ['cancelled', { succeeded: 3, errored: 1, canceled: 6 }],
] as const)(
  'a %s batch has one line for each item, as its counts say',
  { tags: ['R094', 'R095', 'R097', 'R098', 'R099', 'R112', 'R213', 'T16', 'T17'] },
  async ([status, expected]) => {
    const emulator = await halfway()
    const batch = await endedHalfway(emulator, status)
    expect(counts(batch)).toEqual({ total: 10, ...expected })
    const lines = await linesOf(emulator, batch.id)
    expect(lines.map((line) => line.custom_id)).toEqual(Array.from({ length: 10 }, (_, n) => `item-${n}`))
    for (const word of ['succeeded', 'errored', 'canceled', 'expired']) {
      expect(lines.filter((line) => line.status === word)).toHaveLength(batch.request_counts[word])
    }
    for (const line of lines) {
      expect(Object.keys(line)).toEqual(['object', 'batch_id', 'custom_id', 'status', 'output', 'error'])
      expect([line.object, line.batch_id]).toEqual(['batch_prediction.result', batch.id])
      const good = line.status === 'succeeded'
      expect(line.output).toEqual(good ? { total: expect.any(Number) } : null)
      if (good) expect(line.error).toBeNull()
      else expect(Object.keys(line.error)).toEqual(['type', 'title', 'status', 'detail'])
    }
    const words = lines.slice(0, 4).map((line) => line.status)
    expect(words).toEqual(['succeeded', 'succeeded', 'errored', 'succeeded'])
  },
)

test('an errored line has a prediction_failed problem', { tags: ['R251', 'T19'] }, async () => {
  const emulator = await batchEmulator({
    'batch.outcomes': [{ status: 'errored', detail: 'unreadable scan' }],
  })
  const { id } = await createBatch(emulator)
  await bring(emulator, id, 'completed')
  const [line] = await linesOf(emulator, id)
  expect(line.error).toEqual({
    type: expect.stringMatching(/\/prediction_failed$/),
    title: 'Prediction Failed',
    status: 422,
    detail: 'unreadable scan',
  })
})

test('a canceled line has a problem with the cause of the end', { tags: ['U049'] }, async () => {
  const emulator = await halfway()
  const { id } = await endedHalfway(emulator, 'cancelled')
  expect((await linesOf(emulator, id)).at(-1).error).toEqual({
    type: expect.stringMatching(/\/canceled$/),
    title: 'Canceled',
    status: 422,
    detail: 'The batch was cancelled before 6 of 10 items were finished.',
  })
})

test('a setting changes the problem in lines of expired items', { tags: ['U049'] }, async () => {
  const problem = { code: 'gone_by', title: 'Gone By', status: 410 }
  const emulator = await batchEmulator({ ...ITEM_PACE, 'errors.item_problem.expired': problem })
  const { id } = await endedHalfway(emulator, 'expired')
  const { type, title, status } = (await linesOf(emulator, id)).at(-1).error
  expect([type.split('/').at(-1), title, status]).toEqual(['gone_by', 'Gone By', 410])
})

test('a setting makes the unfinished items of a failed batch canceled', { tags: ['T17'] }, async () => {
  const emulator = await batchEmulator({ ...ITEM_PACE, 'batch.failed_items': 'canceled' })
  const batch = await endedHalfway(emulator, 'failed')
  expect(counts(batch)).toEqual({ total: 10, succeeded: 4, canceled: 6 })
  expect((await linesOf(emulator, batch.id)).at(-1)).toMatchObject({ status: 'canceled', output: null })
})

test('the output of a rule is sent unchanged if the schema allows it', { tags: ['R100'] }, async () => {
  const outcomes = [
    { match: { custom_id: 'item-0' }, output: { total: 12.5 } },
    { match: { custom_id: 'item-1' }, output: { total: 'much' } },
  ]
  const emulator = await batchEmulator({ 'batch.outcomes': outcomes })
  const { id } = await createBatch(emulator)
  const batch = await bring(emulator, id, 'completed')
  expect(counts(batch)).toEqual({ total: 3, succeeded: 2, errored: 1 })
  const [first, second] = await linesOf(emulator, id)
  expect(first).toMatchObject({ status: 'succeeded', output: { total: 12.5 } })
  expect(second).toMatchObject({ status: 'errored', output: null, error: { status: 422 } })
  expect(second.error.detail).toContain('outcome rule 1')
  expect(second.error.detail).toContain('/total')
  expect(intervene(emulator, 'show', id).invalid_outputs).toEqual([
    { stage: 0, rule: 1, errors: [{ pointer: '/total', detail: expect.any(String) }] },
  ])
})

test('every custom_id is returned once, unchanged and in one line', { tags: ['R096', 'R212'] }, async () => {
  const emulator = await batchEmulator()
  const items = ODD_IDS.map((custom_id) => ({ custom_id, file_id: 'file-pdf' }))
  const { id } = await createBatch(emulator, { items })
  await bring(emulator, id, 'completed')
  const { text } = await emulator.get(`/batch-predictions/${id}/results`)
  expect(text.endsWith('\n')).toBe(true)
  const lines = text.split('\n').filter((line) => line !== '')
  expect(lines).toHaveLength(ODD_IDS.length)
  expect(lines.map((line) => JSON.parse(line).custom_id)).toEqual(ODD_IDS)
  expect(text).not.toContain('\r')
})

const IMPOSSIBLE = {
  type: 'object',
  properties: { total: { type: 'string', minLength: 3, maxLength: 2 } },
  required: ['total'],
}

/** Too large to be examined by the request that creates its batch. */
const LARGE = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`field_${n}`, { type: 'string' }])),
}

test('a batch without outputs completes, and its items say why', {
  tags: ['R100', 'R111', 'U079'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { output_schema: IMPOSSIBLE })
  await emulator.control('POST', '/clock/advance', { until: { batch: id } })
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.error, counts(batch)]).toEqual(['completed', null, { total: 3, errored: 3 }])
  for (const line of await linesOf(emulator, id)) {
    expect(line).toMatchObject({ status: 'errored', output: null, error: { status: 422 } })
    expect(line.error?.detail).toMatch(/at \/properties\/total\/minLength: minLength .*outcome rule.*output/)
  }
})

test('a setting refuses an unsatisfiable schema', { tags: ['U079'] }, async () => {
  const emulator = await batchEmulator({ 'batch.unsatisfiable': 'refuse' })
  const response = await emulator.post('/batch-predictions', aBatch({ output_schema: IMPOSSIBLE }))
  expect([response.status, pointersOf(response)]).toEqual([400, ['/output_schema']])
  expect(response.text).toContain('/properties/total/minLength')
  await createBatch(emulator)
})

test('a large schema is examined when its batch starts', { tags: ['R100', 'U079'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { output_schema: LARGE })
  await emulator.control('POST', '/clock/advance', { steps: 1 })
  expect((await retrieve(emulator, id)).status).toBe('in_progress')
  await emulator.control('POST', '/clock/advance', { until: { batch: id } })
  expect(counts(await retrieve(emulator, id))).toEqual({ total: 3, succeeded: 3 })
  const [line] = await linesOf(emulator, id)
  expect(Object.keys(line?.output ?? {})).toHaveLength(400)
})

test('a batch whose large schema is not examined yet can be completed', { tags: ['U079'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { output_schema: { ...LARGE, required: ['field_0', 'other'] } })
  const { body } = await emulator.control('POST', `/batches/${id}/complete`)
  expect(body.batch).toMatchObject({ status: 'completed', request_counts: { succeeded: 3 } })
})

test('an outcome rule whose output violates the schema is refused', { tags: ['R100'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  const outcomes = [{ output: { total: 1 } }, { output: { total: 'one' } }, { output: {} }]
  const response = await emulator.control('PATCH', `/batches/${id}`, { outcomes })
  expect(response.status).toBe(400)
  expect(response.text).toContain('/outcomes/1/output/total')
  expect(response.text).toContain('/outcomes/2/output')
  expect(response.text).not.toContain('/outcomes/0')
  const { body } = await emulator.control('GET', `/batches/${id}`)
  expect(body.plan.stages).toEqual([{ from: 0, outcomes: [] }])
})

test('a written batch whose schema was never examined has correct counts', { tags: ['U079'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { output_schema: IMPOSSIBLE })
  await emulator.control('POST', '/clock/advance', { until: { batch: id } })
  const { body } = await emulator.control('GET', `/state/${batches.name}/${id}`)
  const { no_output: _, ...plan } = body._emulator.plan
  const changed = { ...body, _emulator: { ...body._emulator, plan } }
  expect((await emulator.control('PUT', `/state/${batches.name}/${id}`, changed)).status).toBe(200)
  expect(counts(await retrieve(emulator, id))).toEqual({ total: 3, errored: 3 })
})
