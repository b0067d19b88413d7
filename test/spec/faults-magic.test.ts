import { expect, test } from 'vitest'
import {
  aBatch,
  batchEmulator,
  cancel,
  counts,
  createBatch,
  intervene,
  linesOf,
  refusedProblem,
  retrieve,
  stamps,
} from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { retrieveAfter } from '../support/retrieve-after.ts'

const SLOWLY = { 'batch.pace': { in_progress: { per_item: '1s' } } }
const STRICT = { strict: true } as const
const NAMES = { 'batch.names.items': 'items', 'batch.names.file_ref': 'file_id' }

const itemsNamed = (...ids: readonly string[]) => ids.map((custom_id) => ({ custom_id, file_id: 'file-pdf' }))

const scripted = (emulator: TestEmulator, emu_script: string, more: object = {}) =>
  createBatch(emulator, { metadata: { emu_script, project: 'north' }, ...more })

const statusesOf = async (emulator: TestEmulator, id: string): Promise<string[]> =>
  (await linesOf(emulator, id)).map(({ status }) => status)

test('an item with emu:errored: is errored, and its error names the reason', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: itemsNamed('a', 'emu:errored:b', 'emu:errored:') })
  emulator.advance('1h')
  const [first, line, bare] = await linesOf(emulator, id)
  expect([first.status, line.status, bare.status]).toEqual(['succeeded', 'errored', 'errored'])
  expect(line.error.detail).toBe('The item is errored because its custom_id begins with emu:errored:.')
})

test('a magic custom_id takes precedence over outcome rules of settings, but not of an intervention', async () => {
  const rule = { match: { custom_id: '*' }, output: { total: 1 } }
  const emulator = await batchEmulator({ 'batch.outcomes': [rule] })
  const items = itemsNamed('emu:errored:a', 'b')
  const first = await createBatch(emulator, { items })
  const second = await createBatch(emulator, { items })
  intervene(emulator, 'change', second.id, { outcomes: [] })
  emulator.advance('1h')
  expect(await statusesOf(emulator, first.id)).toEqual(['errored', 'succeeded'])
  expect(await statusesOf(emulator, second.id)).toEqual(['succeeded', 'succeeded'])
})

test('an item with emu:expired: keeps the batch in progress to the end', { tags: ['R107'] }, async () => {
  const emulator = await batchEmulator(SLOWLY)
  const { id } = await createBatch(emulator, { items: itemsNamed('emu:expired:a', 'b', 'c') })
  const seen = await retrieveAfter(emulator, id, '3s', '1s', '23h', '1h')
  expect(seen.map((batch) => [batch.status, counts(batch)])).toEqual([
    ['in_progress', { total: 3, processing: 2, succeeded: 1 }],
    ['in_progress', { total: 3, processing: 1, succeeded: 2 }],
    ['in_progress', { total: 3, processing: 1, succeeded: 2 }],
    ['expired', { total: 3, succeeded: 2, expired: 1 }],
  ])
  expect(await statusesOf(emulator, id)).toEqual(['expired', 'succeeded', 'succeeded'])
})

test('the slow item is the unfinished one after a cancel', { tags: ['R096'] }, async () => {
  const emulator = await batchEmulator(SLOWLY)
  const { id } = await createBatch(emulator, { items: itemsNamed('emu:slow:a', 'b') })
  emulator.advance('4s')
  await cancel(emulator, id)
  emulator.advance('1s')
  expect(await statusesOf(emulator, id)).toEqual(['canceled', 'succeeded'])
})

test('the plan of a batch shows its magic items, and a restart keeps it', async () => {
  const emulator = await batchEmulator(SLOWLY)
  const items = itemsNamed('emu:slow:a', 'b', 'emu:expired:c', 'emu:errored:d')
  const { id } = await createBatch(emulator, { items })
  emulator.advance('4s')
  const again = await emulator.restart()
  for (const each of [emulator, again]) {
    const { plan } = (await each.control('GET', `/batches/${id}`)).body
    expect(plan.late).toEqual({ slow: [0], never: [2] })
    expect(plan.stages[0].outcomes).toHaveLength(1)
    expect(counts(await retrieve(each, id))).toEqual({ total: 4, processing: 2, succeeded: 1, errored: 1 })
  }
})

test('a batch without magic items has a plan without late items', async () => {
  const emulator = await batchEmulator()
  const { id } = await createBatch(emulator, { items: itemsNamed('a', 'not emu:errored:', 'EMU:slow:b') })
  const { plan } = (await emulator.control('GET', `/batches/${id}`)).body
  expect([plan.stages, Object.hasOwn(plan, 'late')]).toEqual([[{ from: 0, outcomes: [] }], false])
})

test.for([
  ['stuck:validating', ['validating', 'expired']],
  ['stuck:in_progress', ['in_progress', 'expired']],
  ['stuck:finalizing', ['finalizing', 'finalizing']],
] as const)('%s: the batch enters the phase and stays there', async ([script, expected]) => {
  const emulator = await batchEmulator()
  const created = await scripted(emulator, script)
  expect(created.metadata).toEqual({ emu_script: script, project: 'north' })
  const seen = await retrieveAfter(emulator, created.id, '1h', '24h')
  expect(seen.map(({ status }) => status)).toEqual(expected)
})

test.for([
  ['fail:validating', 'failed', { errored: 4 }, { failed_at: 0 }],
  ['fail:in_progress', 'failed', { succeeded: 2, errored: 2 }, { in_progress_at: 0, failed_at: 0 }],
  ['expire', 'expired', { succeeded: 2, expired: 2 }, { in_progress_at: 0, expired_at: 0 }],
  ['instant', 'completed', { succeeded: 4 }, { in_progress_at: 0, finalizing_at: 0, completed_at: 0 }],
] as const)('%s: the first retrieve shows the end', async ([script, status, expected, instants]) => {
  const emulator = await batchEmulator()
  const { id } = await scripted(emulator, script, { items: 4 })
  const batch = await retrieve(emulator, id)
  expect([batch.status, counts(batch)]).toEqual([status, { total: 4, ...expected }])
  expect(stamps(batch)).toEqual(instants)
  expect(await linesOf(emulator, id)).toHaveLength(4)
})

test('a repeated creation does not run the script again', { tags: ['R277'] }, async () => {
  const emulator = await batchEmulator()
  const headers = { 'idempotency-key': 'k1' }
  const body = aBatch({ metadata: { emu_script: 'stuck:in_progress' } })
  const first = await emulator.post('/batch-predictions', body, { headers })
  intervene(emulator, 'change', first.body.id, { hold: false, pace: { in_progress: '10s' } })
  const second = await emulator.post('/batch-predictions', body, { headers })
  expect(second.text).toBe(first.text)
  emulator.advance('1h')
  expect((await retrieve(emulator, first.body.id)).status).toBe('completed')
})

test('a script is a rule for one request, which is in its trace but not in the list of rules', async () => {
  const emulator = await batchEmulator()
  const batch = aBatch({ metadata: { emu_script: 'instant' } })
  const { headers } = await emulator.post('/batch-predictions', batch)
  const { body } = await emulator.control('GET', `/explain/${headers.get('x-emulator-request-id')}`)
  const fault = { rule: 'magic:instant', source: 'magic', fired: true, actions: ['state'] }
  expect(body.faults).toMatchObject([fault])
  expect((await emulator.control('GET', '/faults')).body.data).toEqual([])
})

const script = (emu_script: string) => ({ metadata: { emu_script } })
const second = (custom_id: string) => ({ items: itemsNamed('a', custom_id) })

test.for([
  [second('emu:erored:a'), '/items/1/custom_id', /Did you mean "emu:errored:"\?/],
  [second('emu:'), '/items/1/custom_id', /reserved for emu:errored:, emu:expired:, emu:slow:/],
  [second('emu:slow'), '/items/1/custom_id', /Did you mean "emu:slow:"\?/],
  [script('stuck:finalising'), '/metadata/emu_script', /Did you mean "stuck:finalizing"\?$/],
] as const)('an unknown magic value is refused: %j', async ([changes, pointer, detail]) => {
  const emulator = await batchEmulator()
  const body = aBatch(changes)
  const response = await refusedProblem(emulator, () => emulator.post('/batch-predictions', body), 400)
  expect(response.body.errors).toMatchObject([{ pointer, detail: expect.stringMatching(detail) }])
})

test.for([
  [{ emu_script: 7 }, 400],
  [['emu_script'], 400],
  ['instant', 400],
  [{ constructor: 'instant', script: 'instant' }, 200],
])('metadata of another form is validated as usual: %o', async ([metadata, expected]) => {
  const emulator = await batchEmulator()
  expect((await emulator.post('/batch-predictions', aBatch({ metadata }))).status).toBe(expected)
  const created = emulator.state('batch_predictions').map(({ status }) => status)
  expect(created).toEqual(expected === 200 ? ['validating'] : [])
})

test('magic values are plain text under --strict', { tags: ['R096'] }, async () => {
  const emulator = await batchEmulator(NAMES, STRICT)
  const ids = ['emu:errored:a', 'emu:slow:b', 'emu:expired:c', 'emu:typo:d']
  for (const emu_script of ['instant', 'anything']) {
    const { id, metadata } = await createBatch(emulator, { items: itemsNamed(...ids), ...script(emu_script) })
    expect([metadata, (await retrieve(emulator, id)).status]).toEqual([{ emu_script }, 'validating'])
    emulator.advance('1h')
    expect(await statusesOf(emulator, id)).toEqual(ids.map(() => 'succeeded'))
  }
})

test('every magic value is listed with a description, and none under --strict', async () => {
  const emulator = await batchEmulator()
  const { magic_values: magic } = (await emulator.control('GET', '/fault-presets')).body
  const forms = magic.map(({ place, values }: Record<string, { form: string }[]>) =>
    [place, ...(values ?? []).map(({ form }) => form)].join(' '),
  )
  expect(forms).toEqual([
    'custom_id of an item emu:errored:… emu:expired:… emu:slow:…',
    'metadata.emu_script stuck:validating stuck:in_progress stuck:finalizing fail:validating fail:in_progress expire instant',
  ])
  expect(magic[0]).toMatchObject({ operation: 'batch-predictions.create' })
  expect(JSON.stringify(magic)).toMatch(/"description":"The item is errored\."/)
  const strict = await batchEmulator({}, STRICT)
  expect((await strict.control('GET', '/fault-presets')).body.magic_values).toEqual([])
})
