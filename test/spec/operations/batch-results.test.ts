import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Operation } from '../../../src/core/operation.ts'
import { batchStatuses } from '../../../src/service/batch-predictions/states.ts'
import { KEYS } from '../../support/base-state.ts'
import {
  batchEmulator,
  bring,
  cancel,
  counts,
  createBatch,
  expectProblem,
  linesOf,
  refusedProblem,
  retrieve,
} from '../../support/batches.ts'
import type { TestEmulator } from '../../support/emulator.ts'

const TERMINAL = ['completed', 'failed', 'expired', 'cancelled'] as const

const BIG = 'x'.repeat(8_192)

/** Counts the lines that are generated for responses of a sandbox, and the streams that have ended. */
function watchLines(emulator: TestEmulator): { made: number; ended: number } {
  const seen = { made: 0, ended: 0 }
  const operation = emulator.sandbox.service.operations.get('batch-predictions.results') as Operation
  function* watched(lines: Iterable<string>) {
    try {
      for (const line of lines) {
        seen.made += 1
        yield line
      }
    } finally {
      seen.ended += 1
    }
  }
  const { handle } = operation
  const spy = vi.spyOn(operation, 'handle').mockImplementation((context) => {
    const response = handle(context)
    return response.lines === undefined ? response : { ...response, lines: watched(response.lines) }
  })
  onTestFinished(() => spy.mockRestore())
  return seen
}

/** Sends a request and stops reading after the first bytes of the response. */
function slowReader(port: number, request: string): Promise<ReturnType<typeof connect>> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.once('data', () => {
      socket.pause()
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

test.for(batchStatuses.filter((status) => !(TERMINAL as readonly string[]).includes(status)))(
  'results of a batch that is %s are refused',
  { tags: ['R214', 'U042'] },
  async (status) => {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator)
    await bring(emulator, id, status)
    const response = await refusedProblem(
      emulator,
      () => emulator.get(`/batch-predictions/${id}/results`),
      409,
      'results_not_ready',
    )
    expect(response.body.detail).toContain(status)
    expect(response.assumed).toEqual(expect.arrayContaining(['U040', 'U042']))
  },
)

test('a setting chooses the status of results that are not ready', { tags: ['U042'] }, async () => {
  const emulator = await batchEmulator({ 'status.results_not_ready': 404 })
  const { id } = await createBatch(emulator)
  expectProblem(await emulator.get(`/batch-predictions/${id}/results`), 404, 'results_not_ready')
})

test.for(['submission', 'shuffled'])(
  'results in the order "%s" have every line once, in the same bytes on every read, also after a restart',
  { tags: ['R216', 'U048'] },
  async (order) => {
    const emulator = await batchEmulator({ 'batch.results.order': order })
    const { id } = await createBatch(emulator, { items: 300 })
    await bring(emulator, id, 'completed')
    const read = async (where: TestEmulator) => (await where.get(`/batch-predictions/${id}/results`)).text
    const first = await read(emulator)
    expect(await read(emulator)).toBe(first)
    emulator.advance('1d')
    expect(await read(await emulator.restart())).toBe(first)
    const ids = (await linesOf(emulator, id)).map((line) => line.custom_id)
    const submitted = Array.from({ length: 300 }, (_, n) => `item-${n}`)
    expect(new Set(ids)).toEqual(new Set(submitted))
    if (order === 'submission') expect(ids).toEqual(submitted)
    else expect(ids).not.toEqual(submitted)
  },
)

test('a setting makes results_url relative to the base URL', { tags: ['U047'] }, async () => {
  const emulator = await batchEmulator({ 'batch.results_url': 'base_relative' })
  const { id } = await createBatch(emulator)
  const { results_url } = await bring(emulator, id, 'completed')
  expect(results_url).toBe(`/batch-predictions/${id}/results`)
  expect((await emulator.get(results_url)).status).toBe(200)
})

test('5,000 lines are generated as they are read, until a client leaves', { tags: ['R217'] }, async () => {
  const outcomes = [{ output: { total: 1, text: BIG } }]
  const emulator = await batchEmulator({ 'batch.outcomes': outcomes })
  const { id } = await createBatch(emulator, { items: 5_000 })
  emulator.advance('1h')
  const seen = watchLines(emulator)
  const { port } = new URL(emulator.baseUrl)
  const head = `GET /v1/batch-predictions/${id}/results HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`
  const readers = await Promise.all(
    Array.from({ length: 5 }, () =>
      slowReader(Number(port), `${head}Authorization: Bearer ${KEYS.KU}\r\n\r\n`),
    ),
  )
  // Each client has read only its first bytes: once the buffers of the system are full, no more lines are generated.
  let before = 0
  while (before !== seen.made) {
    before = seen.made
    for (let n = 0; n < 10; n++) await emulator.control('GET', '/clock')
  }
  expect(seen.made).toBeGreaterThan(0)
  expect(seen.made).toBeLessThan(5 * 5_000)
  expect(seen.ended).toBe(0)
  for (const reader of readers) reader.destroy()
  await expect.poll(() => seen.ended).toBe(5)
  expect(seen.made).toBe(before)
  expect(counts(await retrieve(emulator, id))).toEqual({ total: 5_000, succeeded: 5_000 })
})

test('a setting finishes the items in flight at a cancel', { tags: ['R109', 'R112', 'T15'] }, async () => {
  const pace = { in_progress: { per_item: '400ms', concurrency: 3 } }
  const emulator = await batchEmulator({ 'batch.cancel_in_flight': 'finish', 'batch.pace': pace })
  const [large, small] = [
    await createBatch(emulator, { items: 10 }),
    await createBatch(emulator, { items: 4 }),
  ]
  emulator.advance('2500ms')
  const { id: early } = await createBatch(emulator)
  const ids = [large.id, small.id, early]
  const now = () => Promise.all(ids.map(async (id) => counts(await retrieve(emulator, id))))
  for (const id of ids) await cancel(emulator, id)
  const [ten, four, three] = [{ total: 10 }, { total: 4 }, { total: 3 }]
  const nothing = { ...three, processing: 3 }
  expect(await now()).toEqual([
    { ...ten, succeeded: 3, processing: 7 },
    { ...four, succeeded: 3, processing: 1 },
    nothing,
  ])
  for (const by of ['300ms', '600ms']) {
    emulator.advance(by)
    const most = { ...ten, succeeded: 6, processing: 4 }
    expect(await now()).toEqual([most, { ...four, succeeded: 4 }, nothing])
  }
  emulator.advance('100ms')
  const most = { ...ten, succeeded: 6, canceled: 4 }
  expect(await now()).toEqual([most, { ...four, succeeded: 4 }, { ...three, canceled: 3 }])
  expect((await retrieve(emulator, small.id)).error.detail).toBe('The batch was cancelled.')
})
