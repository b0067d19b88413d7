import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

async function withBatch() {
  const emulator = await testEmulator({ collections: sampleRecords, rate: 0 })
  const { body } = await emulator.post('/batch-predictions', batchBody())
  const listed = async () => (await emulator.control('GET', '/batches')).body.data[0]
  const results = async () => (await emulator.control('GET', `/batches/${body.id}/results`)).body.data
  const advance = (target: object) => emulator.control('POST', '/clock/advance', target)
  return { emulator, id: body.id, listed, results, advance }
}

const NONE = { in_progress_at: null, finalizing_at: null, completed_at: null }

test('the list of batches predicts when the next phases begin, and they begin then', async () => {
  const { id, listed, advance } = await withBatch()
  const { predicted, status, first_file_id } = await listed()
  expect([status, first_file_id]).toEqual(['validating', 'file-1'])
  await advance({ until: { batch: id } })
  expect(await listed()).toMatchObject({ status: 'completed', ...predicted, predicted: NONE })
})

test('in the list a held batch has no predicted instants, and a prompt is cut after 200 characters', async () => {
  const { emulator, id, listed } = await withBatch()
  await emulator.control('PATCH', `/batches/${id}`, { hold: true })
  expect(await listed()).toMatchObject({ held: true, predicted: NONE })
  const prompt = 'Read the total. '.repeat(20)
  await emulator.post('/batch-predictions', { ...batchBody(), prompt })
  const { data } = (await emulator.control('GET', '/batches')).body
  expect(data.at(-1).prompt).toBe(prompt.slice(0, 200))
})

test('planned results equal the final results of the batch', async () => {
  const { id, results, advance } = await withBatch()
  const planned = await results()
  expect(planned.map(({ finished }: { finished: boolean }) => finished)).not.toContain(true)
  await advance({ until: { batch: id } })
  expect(await results()).toEqual(planned.map((row: object) => ({ ...row, finished: true })))
})

test('the pages of results together contain all results', async () => {
  const { emulator, id, results } = await withBatch()
  const whole = await results()
  const page = async (query: string) =>
    (await emulator.control('GET', `/batches/${id}/results?${query}`)).body
  expect(whole.length).toBeGreaterThan(1)
  expect(await page('limit=1')).toMatchObject({ data: whole.slice(0, 1), has_more: true })
  expect(await page('offset=1')).toMatchObject({ data: whole.slice(1), has_more: false })
  expect(await page(`offset=${whole.length}`)).toMatchObject({ data: [], has_more: false })
  expect((await emulator.control('GET', `/batches/${id}/results?limit=0`)).status).toBe(400)
})
