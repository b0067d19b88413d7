import { expect, test } from 'vitest'
import { batchLifecycle, batchStatuses } from '../../src/resources/batch-predictions/states.ts'
import {
  batchWorld,
  bring,
  cancel,
  counts,
  createBatch,
  intervene,
  linesOf,
  retrieve,
  someItems,
} from '../support/batches.ts'
import type { TestWorld } from '../support/world.ts'

const STAMPS = [
  'in_progress_at',
  'finalizing_at',
  'completed_at',
  'failed_at',
  'cancelling_at',
  'cancelled_at',
  'expired_at',
] as const

/** The state timestamps that are set, in seconds after creation. */
function stamps(batch: Record<string, string | null>): Record<string, number> {
  const since = (at: string) => (Date.parse(at) - Date.parse(String(batch.created_at))) / 1000
  return Object.fromEntries(
    STAMPS.flatMap((stamp) => (batch[stamp] === null ? [] : [[stamp, since(String(batch[stamp]))]])),
  )
}

test('R082 R083 R084 R089 R110 U054 the way to completion takes the default pace and sets each timestamp once', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world, { items: 120 })
  const seen = []
  for (const by of ['1999ms', '1ms', '200ms', '200ms', '199ms', '1ms', '999ms', '1ms', '400d']) {
    world.advance(by)
    const batch = await retrieve(world, id)
    seen.push([batch.status, counts(batch), stamps(batch)])
  }
  const total = 120
  const done = { in_progress_at: 2, finalizing_at: 2.6, completed_at: 3.6 }
  expect(seen).toEqual([
    ['validating', { total, processing: 120 }, {}],
    ['in_progress', { total, processing: 120 }, { in_progress_at: 2 }],
    ['in_progress', { total, processing: 70, succeeded: 50 }, { in_progress_at: 2 }],
    ['in_progress', { total, processing: 20, succeeded: 100 }, { in_progress_at: 2 }],
    ['in_progress', { total, processing: 20, succeeded: 100 }, { in_progress_at: 2 }],
    ['finalizing', { total, succeeded: 120 }, { in_progress_at: 2, finalizing_at: 2.6 }],
    ['finalizing', { total, succeeded: 120 }, { in_progress_at: 2, finalizing_at: 2.6 }],
    ['completed', { total, succeeded: 120 }, done],
    ['completed', { total, succeeded: 120 }, done],
  ])
})

test.for<[string, string, string, Record<string, number>]>([
  ['R084 failed while validating', 'validating', 'failed', { failed_at: 0 }],
  ['R084 failed in progress', 'in_progress', 'failed', { in_progress_at: 2, failed_at: 2 }],
  ['R084 expired while validating', 'validating', 'expired', { expired_at: 0 }],
  ['R084 expired in progress', 'in_progress', 'expired', { in_progress_at: 2, expired_at: 2 }],
  ['R084 cancelling while validating', 'validating', 'cancelling', { cancelling_at: 0 }],
  ['R084 cancelling in progress', 'in_progress', 'cancelling', { in_progress_at: 2, cancelling_at: 2 }],
  ['R084 cancelled while validating', 'validating', 'cancelled', { cancelling_at: 0, cancelled_at: 1 }],
  [
    'R084 cancelled in progress',
    'in_progress',
    'cancelled',
    { in_progress_at: 2, cancelling_at: 2, cancelled_at: 3 },
  ],
])('%s sets exactly these timestamps', async ([, from, to, expected]) => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  await bring(world, id, from)
  expect(stamps(await bring(world, id, to))).toEqual(expected)
})

test('R077 R079 R080 R085 R086 R087 R091 R092 every state shows a whole and consistent batch', async () => {
  for (const status of batchStatuses) {
    const world = await batchWorld()
    const { id } = await createBatch(world, { items: 4 })
    const batch = await bring(world, id, status)
    expect([batch.status, batch.completion_window]).toEqual([status, '24h'])
    expect([batch.created_at, batch.expires_at]).toEqual([
      '2026-03-01T12:00:00.000Z',
      '2026-03-02T12:00:00.000Z',
    ])
    const { total, ...parts } = batch.request_counts as Record<string, number>
    expect(Object.keys(parts)).toEqual(['processing', 'succeeded', 'errored', 'canceled', 'expired'])
    expect(Object.values(parts).every((count) => Number.isInteger(count) && count >= 0)).toBe(true)
    expect([total, Object.values(parts).reduce((sum, count) => sum + count)]).toEqual([4, 4])
    const unhappy = ['failed', 'cancelled', 'expired'].includes(status)
    expect(batch.error).toEqual(unhappy ? expect.any(Object) : null)
    const terminal = unhappy || status === 'completed'
    expect(batch.results_url).toEqual(terminal ? `/v1/batch-predictions/${id}/results` : null)
  }
})

test('R077 R085 T18 two l for the batch, one l for its items', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  const batch = await bring(world, id, 'cancelled')
  expect(batchStatuses).toEqual(expect.arrayContaining(['cancelling', 'cancelled']))
  expect(Object.keys(batch)).toEqual(expect.arrayContaining(['cancelling_at', 'cancelled_at']))
  expect(batch.request_counts.canceled).toBe(3)
  expect((await linesOf(world, id)).map((line) => line.status)).toEqual(['canceled', 'canceled', 'canceled'])
  expect(JSON.stringify(batch)).not.toMatch(/"(canceling|canceled_at|status":"canceled|cancelled":)/)
})

test('R091 U010 the error is a problem that names the cause, and empty under --strict', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  const failed = await bring(world, id, 'failed')
  expect(failed.error).toEqual({
    type: expect.stringMatching(/\/batch_failed$/),
    title: 'Batch Failed',
    status: 422,
    detail: 'The batch was made to fail.',
  })
  expect((await world.get(`/batch-predictions/${id}`)).assumed).toContain('U010')
  const strict = await batchWorld(
    { 'batch.names.items': 'items', 'batch.names.file_ref': 'file_id' },
    { strict: true },
  )
  const { id: other } = await createBatch(strict)
  expect((await bring(strict, other, 'expired')).error).toEqual({})
})

test('R106 U010 a scenario fails a batch with an error of its own', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  intervene(world, 'fail', id, { error: { code: 'quota', left: 0 } })
  expect((await retrieve(world, id)).error).toEqual({ code: 'quota', left: 0 })
})

test('R107 T16 in progress at the end of the window expires to the millisecond, and finished items stay', async () => {
  const world = await batchWorld({ 'batch.pace': { in_progress: { per_item: '10h', concurrency: 2 } } })
  const { id } = await createBatch(world, { items: 5 })
  world.advance('86399999ms')
  expect((await retrieve(world, id)).status).toBe('in_progress')
  world.advance('1ms')
  const batch = await retrieve(world, id)
  expect([batch.status, batch.expired_at]).toEqual(['expired', batch.expires_at])
  expect(counts(batch)).toEqual({ total: 5, succeeded: 4, expired: 1 })
  expect((await linesOf(world, id)).map((line) => line.status)).toEqual([
    'succeeded',
    'succeeded',
    'succeeded',
    'succeeded',
    'expired',
  ])
})

test('R108 T13 all items finished in time completes, though finalizing reaches past the window', async () => {
  const pace = { validating: 'immediate', in_progress: '86399s', finalizing: '2s' }
  const world = await batchWorld({ 'batch.pace': pace })
  const { id } = await createBatch(world)
  world.advance('24h')
  expect((await retrieve(world, id)).status).toBe('finalizing')
  world.advance('1s')
  const batch = await retrieve(world, id)
  expect([batch.status, batch.expired_at]).toEqual(['completed', null])
})

test('T14 items that finish at the very end of the window are finished', async () => {
  const pace = { validating: 'immediate', in_progress: '24h', finalizing: '1s' }
  const world = await batchWorld({ 'batch.pace': pace })
  const { id } = await createBatch(world)
  const { events } = world.advance('24h')
  expect(events.map(({ to }) => to)).toEqual(['in_progress', 'finalizing'])
  world.advance('1s')
  expect((await retrieve(world, id)).status).toBe('completed')
})

test('T14 validation that ends with the window starts the items first, whatever the order of scheduling', async () => {
  const world = await batchWorld({ 'batch.pace': { validating: '24h', in_progress: 'immediate' } })
  const { id } = await createBatch(world)
  const { id: moved } = await createBatch(world, { items: 2 })
  intervene(world, 'change', moved, { pace: { validating: '23h' } })
  intervene(world, 'change', moved, { pace: { validating: '24h' } })
  world.advance('24h')
  for (const each of [id, moved]) expect((await retrieve(world, each)).status).toBe('finalizing')
})

test('T14 a window that ends at the instant of a cancel has ended', async () => {
  const world = await batchWorld({ 'batch.pace': { in_progress: 'hold' } })
  const { id } = await createBatch(world)
  world.advance('24h')
  const { status } = await cancel(world, id)
  expect([status, (await retrieve(world, id)).status]).toEqual([409, 'expired'])
})

test.for([
  ['expire', 'expired', { expired: 3 }],
  ['fail', 'failed', { errored: 3 }],
  ['wait', 'validating', { processing: 3 }],
] as const)('T13 the window ends while validating: %s', async ([reading, status, rest]) => {
  const world = await batchWorld({
    'batch.expire_in_validating': reading,
    'batch.pace': { validating: '25h', in_progress: '1h' },
  })
  const { id } = await createBatch(world)
  world.advance('24h')
  const batch = await retrieve(world, id)
  expect([batch.status, batch.in_progress_at]).toEqual([status, null])
  expect(counts(batch)).toEqual({ total: 3, ...rest })
  world.advance('2h')
  if (reading === 'wait') expect((await retrieve(world, id)).status).toBe('expired')
  else expect(await retrieve(world, id)).toEqual(batch)
})

test('T13 the window ends while cancelling: the batch is cancelled', async () => {
  const world = await batchWorld({ 'batch.cancel_delay': '2h', 'batch.pace': { in_progress: 'hold' } })
  const { id } = await createBatch(world)
  world.advance('23h')
  await cancel(world, id)
  world.advance('1h')
  expect((await retrieve(world, id)).status).toBe('cancelling')
  world.advance('1h')
  expect((await retrieve(world, id)).status).toBe('cancelled')
})

test('R111 a batch whose items all errored is completed, without an error of its own', async () => {
  const world = await batchWorld({ 'batch.outcomes': [{ status: 'errored' }] })
  const { id } = await createBatch(world, { items: 10 })
  const batch = await bring(world, id, 'completed')
  expect(counts(batch)).toEqual({ total: 10, errored: 10 })
  expect(batch.error).toBeNull()
})

test('R113 R210 a terminal batch changes no more, but for results_url at cleanup', async () => {
  for (const status of ['completed', 'failed', 'expired', 'cancelled']) {
    const world = await batchWorld()
    const { id } = await createBatch(world)
    const batch = await bring(world, id, status)
    await cancel(world, id)
    world.advance('20d')
    expect(await retrieve(world, id)).toEqual(batch)
    world.advance('400d')
    await cancel(world, id)
    expect(await retrieve(world, id)).toEqual({ ...batch, results_url: null })
  }
})

test('R114 the table of moves is that of the specification, and the other moves name what they rest on', () => {
  const rows = batchLifecycle.arrows.map(({ from, on, to, because }) => `${from} ${on} ${to} ${because}`)
  expect(rows.sort()).toEqual([
    'cancelled cancel cancelled spec',
    'cancelling cancel cancelling spec',
    'cancelling stop cancelled U054',
    'finalizing complete completed U054',
    'in_progress cancel cancelling spec',
    'in_progress expire expired spec',
    'in_progress fail failed spec',
    'in_progress finish finalizing U054',
    'validating cancel cancelling spec',
    'validating expire expired T13',
    'validating fail failed spec',
    'validating start in_progress U054',
  ])
  const terminal = batchStatuses.filter((status) => batchLifecycle.terminal(status))
  expect(terminal.sort()).toEqual(['cancelled', 'completed', 'expired', 'failed'])
})

test('R209 a thousand polls at one instant give one body and change nothing', async () => {
  const world = await batchWorld({}, { limits: false })
  const { id } = await createBatch(world, { items: 100 })
  world.advance('2300ms')
  const before = world.digest()
  const bodies = new Set<string>()
  for (let n = 0; n < 1_000; n++) bodies.add((await world.get(`/batch-predictions/${id}`)).text)
  expect(bodies.size).toBe(1)
  expect(world.digest()).toBe(before)
})

test('U054 polls move a batch on where the pace says so, and items finish in step with them', async () => {
  const pace = { validating: { polls: 2 }, in_progress: { polls: 3 }, finalizing: { polls: 1 } }
  const world = await batchWorld({ 'batch.pace': pace })
  const { id } = await createBatch(world, { items: 7 })
  world.advance('1h')
  const seen = []
  for (let n = 0; n < 7; n++) {
    const batch = await retrieve(world, id)
    seen.push([batch.status, batch.request_counts.succeeded])
  }
  expect(seen).toEqual([
    ['validating', 0],
    ['in_progress', 0],
    ['in_progress', 2],
    ['in_progress', 4],
    ['finalizing', 7],
    ['completed', 7],
    ['completed', 7],
  ])
})

test('U054 reading results or cancelling is no poll', async () => {
  const world = await batchWorld({ 'batch.pace': { validating: { polls: 1 } } })
  const { id } = await createBatch(world)
  await world.get(`/batch-predictions/${id}/results`)
  await world.get(`/batch-predictions/${id}`, { key: 'K2' })
  expect(world.state('batch_predictions')[0].status).toBe('validating')
})

test('R102 U054 at an immediate pace a creation still shows validating, and the next request the end', async () => {
  const pace = { validating: 'immediate', in_progress: 'immediate', finalizing: 'immediate' }
  const world = await batchWorld({ 'batch.pace': pace })
  const created = await createBatch(world, { items: 5_000 })
  expect(created.status).toBe('validating')
  const batch = await retrieve(world, created.id)
  expect(batch.status).toBe('completed')
  expect(stamps(batch)).toEqual({ in_progress_at: 0, finalizing_at: 0, completed_at: 0 })
})

test('U054 skipping on polls runs work and never jumps into a deadline', async () => {
  const world = await batchWorld({ 'batch.pace': { finalizing: 'hold' } }, { skipOnPoll: true })
  const { id } = await createBatch(world)
  const seen = []
  for (let n = 0; n < 4; n++) seen.push((await retrieve(world, id)).status)
  expect(seen).toEqual(['in_progress', 'finalizing', 'finalizing', 'finalizing'])
  expect(world.now() - Date.parse('2026-03-01T12:00:00.000Z')).toBe(2_200)
})

test('U054 a phase given as one duration spreads its items over it', async () => {
  const world = await batchWorld({ 'batch.pace': { validating: 'immediate', in_progress: '10s' } })
  const { id } = await createBatch(world, { items: 4 })
  const seen = []
  for (const by of ['0s', '2499ms', '1ms', '2500ms', '2500ms', '2499ms', '1ms']) {
    world.advance(by)
    seen.push((await retrieve(world, id)).request_counts.succeeded)
  }
  expect(seen).toEqual([0, 0, 1, 2, 3, 3, 4])
})

async function countsWhile(world: TestWorld, id: string, steps: number) {
  const seen = []
  for (let n = 0; n < steps; n++) {
    seen.push((await retrieve(world, id)).request_counts)
    world.advance('100ms')
  }
  return seen
}

test('R086 R088 R109 counts add up and only ever move towards the end, and only in progress', async () => {
  const world = await batchWorld({
    'batch.pace': { in_progress: { per_item: '100ms', concurrency: 3 } },
    'batch.outcomes': [{ every: 4, status: 'errored' }],
  })
  const { id } = await createBatch(world, { items: 40 })
  const seen = await countsWhile(world, id, 50)
  for (const [n, now] of seen.entries()) {
    const { total, processing, succeeded, errored, canceled, expired } = now
    expect(processing + succeeded + errored + canceled + expired).toBe(total)
    const before = seen[n - 1] ?? now
    expect([succeeded >= before.succeeded, errored >= before.errored]).toEqual([true, true])
    expect(processing <= before.processing).toBe(true)
  }
  const { in_progress_at, finalizing_at } = await retrieve(world, id)
  const moving = seen.flatMap((now, n) =>
    n > 0 && now.processing !== seen[n - 1].processing ? [n * 100] : [],
  )
  const offset = (at: string) => Date.parse(at) - Date.parse('2026-03-01T12:00:00.000Z')
  expect(moving.every((ms) => ms > offset(in_progress_at) && ms <= offset(finalizing_at))).toBe(true)
  expect(moving.length).toBeGreaterThan(10)
})

test.for([
  ['R103 R106 R272 an unknown file', { file_id: 'nobody' }, 'There is no file with the id "nobody".'],
  ['R103 a file of another teamspace', { file_id: 'file-elsewhere' }, 'There is no file with the id'],
  ['R103 a file that cannot be accessed', { file_id: 'file-locked' }, 'cannot be accessed'],
  ['R103 a type that batches do not take', { file_id: 'file-archive' }, 'archive'],
  ['R103 R272 a page of a format without pages', { file_id: 'file-sheet', page: 1 }, 'has no pages'],
  ['R103 R272 a page beyond the last', { page: 11 }, 'has 10 pages, not 11'],
] as const)('%s: the creation is accepted and the batch fails', async ([, change, reason]) => {
  const world = await batchWorld()
  const items = [...someItems(2), { custom_id: 'bad', file_id: 'file-pdf', ...change }]
  const { id } = await createBatch(world, { items })
  world.advance('2s')
  const answer = await world.get(`/batch-predictions/${id}`)
  expect([answer.body.status, stamps(answer.body)]).toEqual(['failed', { failed_at: 2 }])
  expect(answer.body.error.detail).toContain(reason)
  expect(answer.body.error.detail).toContain('/items/2 (custom_id "bad")')
  expect(counts(answer.body)).toEqual({ total: 3, errored: 3 })
  expect(answer.assumed).toEqual(expect.arrayContaining(['U010', 'U039', 'U055']))
  const lines = await linesOf(world, id)
  expect(lines[2].error.detail).toContain(reason)
  expect(lines[0].error.detail).toContain('1 item does not validate')
})

test('R103 R272 the last page, and a sheet without a page, validate', async () => {
  const world = await batchWorld()
  const items = [
    { custom_id: 'last', file_id: 'file-pdf', page: 10 },
    { custom_id: 'sheet', file_id: 'file-sheet' },
  ]
  const { id } = await createBatch(world, { items })
  await bring(world, id, 'in_progress')
})

test('U055 a setting makes only the item errored', async () => {
  const world = await batchWorld({ 'batch.validation': 'item' })
  const items = [...someItems(2), { custom_id: 'bad', file_id: 'nobody' }]
  const { id } = await createBatch(world, { items })
  const batch = await bring(world, id, 'completed')
  expect(counts(batch)).toEqual({ total: 3, succeeded: 2, errored: 1 })
  const lines = await linesOf(world, id)
  expect(lines[2].error).toMatchObject({ detail: 'There is no file with the id "nobody".', status: 422 })
})

test('U039 a setting accepts files that this world does not have, but not pages that a known file has not', async () => {
  const world = await batchWorld({ 'batch.unknown_files': 'accept' })
  const good = await createBatch(world, { items: [{ custom_id: 'a', file_id: 'nobody', page: 7 }] })
  const bad = await createBatch(world, { items: [{ custom_id: 'a', file_id: 'file-pdf', page: 11 }] })
  world.advance('2s')
  expect((await retrieve(world, good.id)).status).toBe('in_progress')
  expect((await retrieve(world, bad.id)).status).toBe('failed')
})

test('R281 R282 R283 R093 R210 results go 29 days after creation, whenever the batch ended, and metadata stays', async () => {
  const world = await batchWorld({ 'batch.pace': { in_progress: '23h' } })
  const late = await createBatch(world, { metadata: { a: 'b' } })
  const early = await createBatch(world)
  intervene(world, 'complete', early.id)
  world.advance(`${29 * 86_400_000 - 1}ms`)
  for (const { id } of [late, early]) {
    expect((await retrieve(world, id)).results_url).not.toBeNull()
    expect((await world.get(`/batch-predictions/${id}/results`)).status).toBe(200)
  }
  world.advance('1ms')
  for (const { id } of [late, early]) {
    expect((await retrieve(world, id)).results_url).toBeNull()
    expect((await world.get(`/batch-predictions/${id}/results`)).status).toBe(410)
  }
  world.advance('400d')
  const batch = await retrieve(world, late.id)
  expect([batch.status, batch.metadata, batch.results_url]).toEqual(['completed', { a: 'b' }, null])
})

test('U056 cleanup can be delayed, or left to the control API', async () => {
  const delayed = await batchWorld({ 'batch.cleanup': '6h' })
  const one = await createBatch(delayed)
  delayed.advance('29d')
  expect((await retrieve(delayed, one.id)).results_url).not.toBeNull()
  delayed.advance('6h')
  expect((await retrieve(delayed, one.id)).results_url).toBeNull()

  const manual = await batchWorld({ 'batch.cleanup': 'manual' })
  const two = await createBatch(manual)
  manual.advance('300d')
  expect((await retrieve(manual, two.id)).results_url).not.toBeNull()
  intervene(manual, 'cleanup', two.id)
  expect((await retrieve(manual, two.id)).results_url).toBeNull()
  expect((await manual.get(`/batch-predictions/${two.id}/results`)).status).toBe(410)
})

test('every event says in a sentence what it will do, and a batch has at most one of each kind', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world, { items: 100 })
  const seen = new Set<string>()
  for (const by of ['0s', '2s', '400ms', '1s']) {
    world.advance(by)
    const ahead = world.sandbox.scheduler.horizon().filter(({ ref }) => ref.endsWith(id))
    expect(new Set(ahead.map(({ kind }) => kind)).size).toBe(ahead.length)
    for (const { kind, says } of ahead) seen.add(`${kind} ${/^[A-Z].{20,}\.$/.test(says)}`)
  }
  expect([...seen].sort()).toEqual([
    'batch.cleanup true',
    'batch.complete true',
    'batch.expire true',
    'batch.finalize true',
    'batch.start true',
  ])
  const kinds = [
    'batch.start',
    'batch.finalize',
    'batch.complete',
    'batch.cancelled',
    'batch.expire',
    'batch.cleanup',
  ]
  for (const kind of kinds) expect(world.sandbox.service.events.get(kind)?.says).toMatch(/^[A-Z].{20,}\.$/)
})

test('everything about a batch survives a restart in every phase', async () => {
  let world = await batchWorld({ 'batch.outcomes': [{ probability: 0.5, status: 'errored' }] })
  const straight = await batchWorld({ 'batch.outcomes': [{ probability: 0.5, status: 'errored' }] })
  const { id } = await createBatch(world, { items: 200 })
  await createBatch(straight, { items: 200 })
  for (const by of ['1s', '1100ms', '300ms', '500ms', '2s', '30d']) {
    world.advance(by)
    straight.advance(by)
    world = await world.restart()
    expect(await retrieve(world, id)).toEqual(await retrieve(straight, id))
  }
})
