import { expect, test } from 'vitest'
import { batchUnder } from '../support/batch-under.ts'
import { batchEmulator, bring, counts, createBatch, linesOf, retrieve, stamps } from '../support/batches.ts'
import { retrieveAfter } from '../support/retrieve-after.ts'
import { arm, moving, RETRIEVE, refused } from '../support/state-faults.ts'

const CREATE = { operation: 'batch-predictions.create' }

/** A batch of four items that a rule moves when it is retrieved. */
async function moved(batch: unknown) {
  const { emulator, id } = await batchUnder(moving({ batch }), { items: 4 })
  return { batch: await retrieve(emulator, id), lines: () => linesOf(emulator, id) }
}

test.for([
  ['start', 'validating', 'in_progress', { processing: 3 }],
  ['finish', 'in_progress', 'finalizing', { succeeded: 3 }],
  ['complete', 'finalizing', 'completed', { succeeded: 3 }],
  ['instant', 'validating', 'completed', { succeeded: 3 }],
] as const)('%s moves a batch from %s to %s', async ([move, from, to, expected]) => {
  const { emulator, id } = await batchUnder()
  await bring(emulator, id, from)
  await arm(emulator, moving({ batch: move }))
  const batch = await retrieve(emulator, id)
  expect([batch.status, counts(batch)]).toEqual([to, { total: 3, ...expected }])
  expect(stamps(batch)).toHaveProperty(`${to}_at`)
})

test.for([
  ['start', 'in_progress'],
  ['finish', 'validating'],
  ['complete', 'failed'],
  ['instant', 'cancelled'],
  ['fail', 'finalizing'],
  ['expire', 'finalizing'],
  ['cancel', 'finalizing'],
  ['cancel', 'cancelling'],
  ['cleanup', 'in_progress'],
  ['hold', 'completed'],
] as const)('%s does not change a batch that is %s', async ([move, status]) => {
  const { emulator, id } = await batchUnder()
  const before = await bring(emulator, id, status)
  await arm(emulator, moving({ batch: move }))
  expect(await retrieve(emulator, id)).toEqual(before)
})

test('a held batch stays in its phase until it is released', async () => {
  const when = { sequence: ['hold', 'pass', 'release', 'pass'] }
  const actions = { hold: [{ state: { batch: 'hold' } }], release: [{ state: { batch: 'release' } }] }
  const { emulator, id } = await batchUnder({ match: RETRIEVE, when, actions })
  const seen = await retrieveAfter(emulator, id, '1s', '1h', '1s', '2s')
  const statuses = seen.map(({ status }) => status)
  expect(statuses).toEqual(['validating', 'validating', 'validating', 'in_progress'])
})

test('a hold of a past phase has no effect', async () => {
  const { emulator, id } = await batchUnder()
  await bring(emulator, id, 'in_progress')
  await arm(emulator, moving({ batch: { hold: 'validating' } }))
  emulator.advance('1h')
  expect((await retrieve(emulator, id)).status).toBe('completed')
})

test('a move can change the pace and outcomes of later phases', async () => {
  const emulator = await batchEmulator()
  const outcomes = [{ status: 'errored', detail: 'unreadable scan' }]
  const batch = { pace: { validating: 'immediate', in_progress: '10s' }, outcomes }
  await arm(emulator, moving({ at: 'after-handler', batch }, { match: CREATE }))
  const { id } = await createBatch(emulator, { items: 10 })
  emulator.advance('5s')
  const { status, ...seen } = await retrieve(emulator, id)
  expect([status, counts(seen)]).toEqual(['in_progress', { total: 10, processing: 5, errored: 5 }])
})

test.for([
  ['expire', 0.5, 'expired', { succeeded: 2, expired: 2 }],
  ['fail', 1, 'failed', { succeeded: 1, errored: 3 }],
  ['fail', 0, 'failed', { errored: 4 }],
  ['cancel', 3, 'cancelling', { succeeded: 3, processing: 1 }],
  // A batch with all items finished does not end early, so one item stays unfinished.
  ['expire', 4, 'expired', { succeeded: 3, expired: 1 }],
  ['fail', 5000, 'failed', { succeeded: 3, errored: 1 }],
  ['expire', 0.9, 'expired', { succeeded: 3, expired: 1 }],
] as const)('%s with finished: %s', { tags: ['R107'] }, async ([move, finished, status, expected]) => {
  const { batch, lines } = await moved({ do: move, finished })
  expect([batch.status, counts(batch)]).toEqual([status, { total: 4, ...expected }])
  if (status === 'cancelling') return
  const statuses = (await lines()).map((line) => line.status)
  expect(statuses).toEqual(Object.entries(expected).flatMap(([name, count]) => Array(count).fill(name)))
})

const finished = (count: number) => [{ state: { batch: { finished: count } } }]

test('finished without a move advances a batch to that number of items, and never back', async () => {
  const emulator = await batchEmulator({ 'batch.pace': { in_progress: { per_item: '1s' } } })
  const { id } = await createBatch(emulator, { items: 6 })
  const when = { sequence: ['two', 'pass', 'one', 'all'] }
  const actions = { two: finished(2), one: finished(1), all: finished(6) }
  await arm(emulator, { match: RETRIEVE, when, actions })
  const seen = await retrieveAfter(emulator, id, '0s', '1500ms', '0s', '0s')
  const views = seen.map(({ status, request_counts }) => `${status} ${request_counts.succeeded}`)
  expect(views).toEqual(['in_progress 2', 'in_progress 3', 'in_progress 3', 'finalizing 6'])
})

test('an item that never finishes is finished by a rule with all items, and not by one with fewer', async () => {
  const items = ['emu:expired:a', 'b', 'c'].map((custom_id) => ({ custom_id, file_id: 'file-pdf' }))
  const after = async (count: number) => {
    const { emulator, id } = await batchUnder({ match: RETRIEVE, do: finished(count) }, { items })
    const batch = await retrieve(emulator, id)
    return [batch.status, counts(batch).processing]
  }
  expect([await after(2), await after(3)]).toEqual([
    ['in_progress', 1],
    ['finalizing', undefined],
  ])
})

test('a failure has the detail of the rule, also in result lines', { tags: ['T17'] }, async () => {
  const detail = 'The disk is full.'
  const { batch, lines } = await moved({ do: 'fail', finished: 2, detail })
  expect(batch.error.detail).toBe(detail)
  expect((await lines()).map(({ error }) => error?.detail)).toEqual([undefined, undefined, detail, detail])
})

test('a failure can have the error of the rule', { tags: ['R091'] }, async () => {
  expect((await moved({ do: 'fail', error: { code: 'E17' } })).batch.error).toEqual({ code: 'E17' })
})

const rows = (collection: string, more: object) => ({ insert_rows: { collection, ...more } })

test.for<[state: object, pointer: string, detail: RegExp]>([
  [{ batch: 'finsh' }, 'batch', /Did you mean "finish"\?/],
  [{ batch: { do: 'exprie' } }, 'batch/do', /Did you mean "expire"\?/],
  [{ batch: {} }, 'batch', /at least one of/],
  [{ batch: { hold: 'finalising' } }, 'batch/hold', /Did you mean "finalizing"\?/],
  [{ batch: { finished: 1.5 } }, 'batch/finished', /from 0 to less than 1/],
  [{ batch: { do: 'complete', finished: 2 } }, 'batch/finished', /continues or ends early/],
  [{ batch: { do: 'expire', detail: 'x' } }, 'batch/detail', /add "do": "fail"/],
  [{ batch: 7 }, 'batch', /must be one of start, /],
  [{ cleanup: 'yes' }, 'cleanup', /boolean/],
  [{ member: { add: 0 } }, 'member/add', /from 1/],
  [{ member: { add: 101 } }, 'member/add', /to 100/],
  [{ member: { remove: '' } }, 'member/remove', /./],
  [{ member: {} }, 'member', /at least one/],
  [{ member: { ad: 1 } }, 'member/ad', /Did you mean "add"\?/],
  [rows('organizations', { records: [{ name: 'A', hue: 1 }] }), 'insert_rows/records/0/hue', /known field/],
  [rows('api_keys', { count: 1 }), 'insert_rows/count', /its token cannot be generated; give records/],
])('an invalid move is refused when the rule is armed: %o', async ([state, pointer, detail]) => {
  const emulator = await batchEmulator()
  const issue = [`/do/0/state/${pointer}`, expect.stringMatching(detail)]
  expect(await refused(emulator, state)).toEqual([issue])
})
