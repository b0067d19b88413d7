import { expect, test } from 'vitest'
import {
  batchEmulator,
  bring,
  cancel,
  counts,
  createBatch,
  linesOf,
  retrieve,
  stamps,
} from '../support/batches.ts'
import { arm, moving, RETRIEVE, refused } from '../support/state-faults.ts'

const CREATE = { operation: 'batch-predictions.create' }

test.for([
  ['start', 'validating', 'in_progress', { processing: 3 }],
  ['finish', 'in_progress', 'finalizing', { succeeded: 3 }],
  ['complete', 'validating', 'completed', { succeeded: 3 }],
  ['complete', 'in_progress', 'completed', { succeeded: 3 }],
  ['complete', 'finalizing', 'completed', { succeeded: 3 }],
  ['instant', 'validating', 'completed', { succeeded: 3 }],
  ['fail', 'validating', 'failed', { errored: 3 }],
  ['fail', 'in_progress', 'failed', { errored: 3 }],
  ['expire', 'validating', 'expired', { expired: 3 }],
  ['expire', 'in_progress', 'expired', { expired: 3 }],
  ['cancel', 'validating', 'cancelling', { processing: 3 }],
  ['cancel', 'in_progress', 'cancelling', { processing: 3 }],
] as const)('%s moves a batch from %s to %s', async ([move, from, to, expected]) => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await bring(emulator, id, from)
  await arm(emulator, moving({ batch: move }))
  const batch = await retrieve(emulator, id)
  expect([batch.status, counts(batch)]).toEqual([to, { total: 3, ...expected }])
  expect(stamps(batch)).toHaveProperty(`${to}_at`)
})

test.for([
  ['start', 'in_progress'],
  ['start', 'completed'],
  ['finish', 'validating'],
  ['finish', 'cancelling'],
  ['complete', 'failed'],
  ['instant', 'cancelled'],
  ['fail', 'finalizing'],
  ['fail', 'completed'],
  ['expire', 'finalizing'],
  ['expire', 'cancelled'],
  ['cancel', 'finalizing'],
  ['cancel', 'cancelling'],
  ['cancel', 'completed'],
  ['cleanup', 'in_progress'],
  ['hold', 'completed'],
  ['release', 'expired'],
] as const)('%s does not change a batch that is %s', async ([move, status]) => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  const before = await bring(emulator, id, status)
  await arm(emulator, moving({ batch: move }))
  expect(await retrieve(emulator, id)).toEqual(before)
})

test('a held batch stays in its phase until it is released', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await arm(emulator, {
    match: RETRIEVE,
    when: { sequence: ['hold', 'pass', 'release', 'pass'] },
    actions: { hold: [{ state: { batch: 'hold' } }], release: [{ state: { batch: 'release' } }] },
  })
  const seen = []
  for (const by of ['1s', '1h', '1s', '2s']) {
    emulator.advance(by)
    seen.push((await retrieve(emulator, id)).status)
  }
  expect(seen).toEqual(['validating', 'validating', 'validating', 'in_progress'])
})

test.for([
  ['validating', ['validating', 'validating', 'expired']],
  ['in_progress', ['validating', 'in_progress', 'expired']],
  ['finalizing', ['validating', 'finalizing', 'finalizing']],
] as const)('a batch with a hold in %s stays in that phase', async ([phase, expected]) => {
  const emulator = await batchEmulator()
  await arm(emulator, moving({ at: 'after-handler', batch: { hold: phase } }, { match: CREATE }))
  const { id } = await createBatch(emulator)
  const seen = []
  for (const by of ['0s', '1h', '24h']) {
    emulator.advance(by)
    seen.push((await retrieve(emulator, id)).status)
  }
  expect(seen).toEqual(expected)
})

test('a hold of a past phase has no effect', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await bring(emulator, id, 'in_progress')
  await arm(emulator, moving({ batch: { hold: 'validating' } }))
  emulator.advance('1h')
  expect((await retrieve(emulator, id)).status).toBe('completed')
})

test('a move can change the pace and outcomes of later phases', async () => {
  const emulator = await batchEmulator()
  const change = {
    pace: { validating: 'immediate', in_progress: '10s' },
    outcomes: [{ status: 'errored', detail: 'unreadable scan' }],
  }
  await arm(emulator, moving({ at: 'after-handler', batch: change }, { match: CREATE }))
  const { id } = await createBatch(emulator, { items: 10 })
  emulator.advance('5s')
  const batch = await retrieve(emulator, id)
  expect([batch.status, counts(batch)]).toEqual(['in_progress', { total: 10, processing: 5, errored: 5 }])
})

test('counts and result lines agree after an expiry with half of the items finished', {
  tags: ['R107'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: 4 })
  await arm(emulator, moving({ batch: { do: 'expire', finished: 0.5 } }))
  const batch = await retrieve(emulator, id)
  expect([batch.status, counts(batch)]).toEqual(['expired', { total: 4, succeeded: 2, expired: 2 }])
  expect(batch.error.detail).toBe('The completion window ended before 2 of 4 items were finished.')
  const lines = await linesOf(emulator, id)
  expect(lines.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'expired', 'expired'])
})

test.for([
  ['fail', 1, 'failed', { succeeded: 1, errored: 3 }],
  ['fail', 0, 'failed', { errored: 4 }],
  ['cancel', 3, 'cancelling', { succeeded: 3, processing: 1 }],
  // A batch with all items finished does not end early, so one item stays unfinished.
  ['expire', 4, 'expired', { succeeded: 3, expired: 1 }],
  ['fail', 5000, 'failed', { succeeded: 3, errored: 1 }],
  ['expire', 0.9, 'expired', { succeeded: 3, expired: 1 }],
] as const)('%s with finished: %s', async ([move, finished, status, expected]) => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: 4 })
  await arm(emulator, moving({ batch: { do: move, finished } }))
  const batch = await retrieve(emulator, id)
  expect([batch.status, counts(batch)]).toEqual([status, { total: 4, ...expected }])
})

test('finished without a move advances a batch to that number of items, and never back', async () => {
  const emulator = await batchEmulator({ 'batch.pace': { in_progress: { per_item: '1s' } } })
  const { id } = await createBatch(emulator, { items: 6 })
  await arm(emulator, {
    match: RETRIEVE,
    when: { sequence: ['two', 'pass', 'one', 'all'] },
    actions: {
      two: [{ state: { batch: { finished: 2 } } }],
      one: [{ state: { batch: { finished: 1 } } }],
      all: [{ state: { batch: { finished: 6 } } }],
    },
  })
  const seen = []
  for (const by of ['0s', '1500ms', '0s', '0s']) {
    emulator.advance(by)
    const batch = await retrieve(emulator, id)
    seen.push([batch.status, batch.request_counts.succeeded])
  }
  expect(seen).toEqual([
    ['in_progress', 2],
    ['in_progress', 3],
    ['in_progress', 3],
    ['finalizing', 6],
  ])
})

test('a failure has the detail of the rule, also in the lines of unfinished items', {
  tags: ['T17'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await arm(emulator, moving({ batch: { do: 'fail', finished: 1, detail: 'The disk is full.' } }))
  expect((await retrieve(emulator, id)).error.detail).toBe('The disk is full.')
  const details = (await linesOf(emulator, id)).map(({ error }) => error?.detail ?? null)
  expect(details).toEqual([null, 'The disk is full.', 'The disk is full.'])
})

test('a failure can have the error of the rule', { tags: ['R091'] }, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await arm(emulator, moving({ batch: { do: 'fail', error: { code: 'E17' } } }))
  expect((await retrieve(emulator, id)).error).toEqual({ code: 'E17' })
})

test('a batch whose items do not validate fails although the rule completes it', async () => {
  const emulator = await batchEmulator()
  await arm(emulator, moving({ at: 'after-handler', batch: 'instant' }, { match: CREATE }))
  const { id } = await createBatch(emulator, { items: [{ custom_id: 'a', file_id: 'file-locked' }] })
  expect((await retrieve(emulator, id)).status).toBe('failed')
})

test('a move after the handler does not change the creation response, only the first retrieve', async () => {
  const emulator = await batchEmulator()
  await arm(emulator, moving({ at: 'after-handler', batch: 'instant' }, { match: CREATE }))
  const created = await createBatch(emulator)
  expect([created.status, created.results_url]).toEqual(['validating', null])
  const batch = await retrieve(emulator, created.id)
  expect([batch.status, stamps(batch)]).toEqual([
    'completed',
    { in_progress_at: 0, finalizing_at: 0, completed_at: 0 },
  ])
})

test('a cancel after a completion by a fault is refused, and the results are complete', {
  tags: ['R221'],
}, async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await arm(emulator, moving({ batch: 'complete' }, { match: { operation: 'batch-predictions.cancel' } }))
  expect((await cancel(emulator, id)).status).toBe(409)
  expect((await linesOf(emulator, id)).map(({ status }) => status)).toEqual(Array(3).fill('succeeded'))
})

test.for(['fail', 'expire'])(
  'a cancel after the move %s by a fault is refused',
  { tags: ['R221'] },
  async (move) => {
    const emulator = await batchEmulator()
    const { id } = await createBatch(emulator)
    await arm(emulator, moving({ batch: move }, { match: { operation: 'batch-predictions.cancel' } }))
    expect((await cancel(emulator, id)).status).toBe(409)
  },
)

test('a cancel of a batch that a fault has cancelled responds with it, unchanged', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator)
  await arm(emulator, moving({ batch: 'cancel' }, { match: { operation: 'batch-predictions.cancel' } }))
  const response = await cancel(emulator, id)
  expect([response.status, response.body.status]).toEqual([200, 'cancelling'])
})

test.for([
  [{ batch: 'finsh' }, ['/do/0/state/batch', /Did you mean "finish"\?/]],
  [{ batch: { do: 'exprie' } }, ['/do/0/state/batch/do', /Did you mean "expire"\?/]],
  [{ batch: {} }, ['/do/0/state/batch', /at least one of/]],
  [{ batch: { hold: 'finalising' } }, ['/do/0/state/batch/hold', /Did you mean "finalizing"\?/]],
  [{ batch: { finished: 1.5 } }, ['/do/0/state/batch/finished', /from 0 to less than 1/]],
  [{ batch: { do: 'complete', finished: 2 } }, ['/do/0/state/batch/finished', /continues or ends early/]],
  [{ batch: { do: 'expire', detail: 'x' } }, ['/do/0/state/batch/detail', /add "do": "fail"/]],
  [{ batch: 7 }, ['/do/0/state/batch', /must be one of start, /]],
  [{ cleanup: 'yes' }, ['/do/0/state/cleanup', /boolean/]],
] as const)('an invalid move is refused when the rule is armed: %o', async ([state, [pointer, detail]]) => {
  const emulator = await batchEmulator()
  expect(await refused(emulator, state)).toEqual([[pointer, expect.stringMatching(detail)]])
})
