import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Operation } from '../../../src/core/operation.ts'
import { batchLifecycle, batchStatuses } from '../../../src/service/batch-predictions/states.ts'
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
import { bearer, requestBytes } from '../../support/wire-client.ts'

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

test.for(batchStatuses.filter((status) => !batchLifecycle.terminal(status)))(
  'results of a batch that is %s are refused',
  { tags: ['R214', 'U042'] },
  async (status) => {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator)
    await bring(emulator, id, status)
    const results = () => emulator.get(`/batch-predictions/${id}/results`)
    const { body } = await refusedProblem(emulator, results, 409, 'results_not_ready')
    expect(body.detail).toContain(status)
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
  const { port } = emulator.emulator
  const headers = { Host: `127.0.0.1:${port}`, ...bearer(KEYS.KU) }
  const request = requestBytes({ path: `/v1/batch-predictions/${id}/results`, headers })
  const readers = await Promise.all(Array.from({ length: 5 }, () => slowReader(port, request)))
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
  const { id } = await createBatch(emulator, { items: 10 })
  emulator.advance('2500ms')
  await cancel(emulator, id)
  const seen = []
  for (const by of ['0s', '300ms', '600ms', '100ms']) {
    emulator.advance(by)
    seen.push(counts(await retrieve(emulator, id)))
  }
  const now = { total: 10, succeeded: 3, processing: 7 }
  const then = { total: 10, succeeded: 6, processing: 4 }
  expect(seen).toEqual([now, then, then, { total: 10, succeeded: 6, canceled: 4 }])
})
