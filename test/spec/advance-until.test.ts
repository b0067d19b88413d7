import { expect, test } from 'vitest'
import { batchWorld, cancel, createBatch, intervene, retrieve } from '../support/batches.ts'
import type { TestWorld } from '../support/world.ts'

const advance = (world: TestWorld, goal: object) => world.control('POST', '/clock/advance', goal)
const until = (world: TestWorld, goal: object) => advance(world, { until: goal })

const PACE = { pace: { validating: '2s', in_progress: { per_item: '1s', concurrency: 1 }, finalizing: '3s' } }

/** A batch of ten items that takes 2 s, 10 s and 3 s. */
async function pacedBatch(world: TestWorld) {
  const { id } = await createBatch(world, { items: 10 })
  intervene(world, 'change', id, PACE)
  return id as string
}

test('until a batch is terminal: its last move is the last event, and a GET agrees at once', async () => {
  const world = await batchWorld()
  const start = world.now()
  const id = await pacedBatch(world)
  const { status, body } = await until(world, { batch: id })
  expect(status).toBe(200)
  expect(body.events.map(({ kind }: { kind: string }) => kind)).toEqual([
    'batch.start',
    'batch.finalize',
    'batch.complete',
  ])
  expect(world.now() - start).toBe(15_000)
  expect(await retrieve(world, id)).toMatchObject({ status: 'completed', completed_at: body.to })
})

test.each([
  ['in_progress', 2_000],
  ['finalizing', 12_000],
  ['completed', 15_000],
])('until a batch is %s stops at that instant', async (wanted, after) => {
  const world = await batchWorld()
  const start = world.now()
  const id = await pacedBatch(world)
  expect((await until(world, { batch: id, status: wanted })).status).toBe(200)
  expect(world.now() - start).toBe(after)
  expect((await retrieve(world, id)).status).toBe(wanted)
})

test.each([1, 4, 10])(
  'until %i items are finished stops at the instant of the last of them',
  async (wanted) => {
    const world = await batchWorld()
    const start = world.now()
    const id = await pacedBatch(world)
    expect((await until(world, { batch: id, finished_items: wanted })).status).toBe(200)
    expect(world.now() - start).toBe(2_000 + wanted * 1_000)
    const { succeeded, errored } = (await retrieve(world, id)).request_counts
    expect(succeeded + errored).toBe(wanted)
  },
)

test('a goal that has been reached takes no time', async () => {
  const world = await batchWorld()
  const id = await pacedBatch(world)
  await until(world, { batch: id })
  const { body } = await until(world, { batch: id, finished_items: 3 })
  expect(body).toMatchObject({ events: [], from: body.to })
})

test('a goal behind the batch is refused before any time has passed', async () => {
  const world = await batchWorld()
  const id = await pacedBatch(world)
  await until(world, { batch: id, status: 'finalizing' })
  const now = world.now()
  const { status, body } = await until(world, { batch: id, status: 'in_progress' })
  expect(status).toBe(409)
  expect(body.message).toBe(`Time does not bring the batch ${id} to in_progress: it is finalizing.`)
  expect(world.now()).toBe(now)
})

test('a batch that is held has nothing ahead but its window: it is refused only when that does not help', async () => {
  const world = await batchWorld()
  const id = await pacedBatch(world)
  await until(world, { batch: id, status: 'in_progress' })
  intervene(world, 'change', id, { hold: true })
  expect((await until(world, { batch: id, status: 'finalizing' })).body.message).toContain('it is expired')
  expect((await until(world, { batch: id })).status).toBe(200)
})

test('more items than there are, an unknown batch and two goals at once are refused', async () => {
  const world = await batchWorld()
  const id = await pacedBatch(world)
  const digest = world.digest()
  expect(await until(world, { batch: id, finished_items: 11 })).toMatchObject({ status: 409 })
  expect(await until(world, { batch: 'nobody' })).toMatchObject({
    status: 404,
    body: {
      message: 'There is no batch prediction with the id "nobody".',
      mitigation: 'GET /__emulator/state/batch_predictions lists all there are.',
    },
  })
  expect(await until(world, { batch: id, status: 'completed', finished_items: 2 })).toMatchObject({
    status: 400,
    body: { details: { errors: [{ pointer: '/until' }] } },
  })
  expect(await until(world, { batch: id, status: 'done' })).toMatchObject({ status: 400 })
  expect(await until(world, { bach: id })).toMatchObject({ status: 400 })
  expect(await advance(world, { by: '1s', until: { batch: id } })).toMatchObject({ status: 400 })
  expect(world.digest()).toBe(digest)
})

test('a cancelled batch is brought to its end as well', async () => {
  const world = await batchWorld()
  const id = await pacedBatch(world)
  await until(world, { batch: id, finished_items: 4 })
  await cancel(world, id)
  expect((await until(world, { batch: id, status: 'cancelled' })).status).toBe(200)
  expect((await retrieve(world, id)).request_counts).toMatchObject({ canceled: 6 })
})

test('two clients who advance at once get two receipts that follow one another', async () => {
  const world = await batchWorld()
  await pacedBatch(world)
  const [first, second] = (
    await Promise.all([advance(world, { by: '5s' }), advance(world, { by: '5s' })])
  ).map(({ body }) => body)
  expect([first.to, second.to].sort()).toEqual(['2026-03-01T12:00:05.000Z', '2026-03-01T12:00:10.000Z'])
  expect([first.from, second.from].sort()).toEqual(['2026-03-01T12:00:00.000Z', '2026-03-01T12:00:05.000Z'])
})
