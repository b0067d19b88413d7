import { expect, test } from 'vitest'
import { setSettings } from '../../../src/core/sandboxes/change.ts'
import {
  aBatch,
  batchEmulator,
  bring,
  createBatch,
  refusedProblem,
  someItems,
} from '../../support/batches.ts'
import type { RequestOptions, TestEmulator } from '../../support/emulator.ts'

const CREATE = '/batch-predictions'
const headers = { 'idempotency-key': 'key-1' }

const post = (emulator: TestEmulator, body: object = aBatch(), how: RequestOptions = {}) =>
  emulator.post(CREATE, body, { headers, ...how })

test('the same key and body replay the first response', { tags: ['R276'] }, async () => {
  const emulator = await batchEmulator()
  const first = await post(emulator)
  await bring(emulator, first.body.id, 'completed')
  setSettings(emulator.sandbox, { models: [{ id: 'another', clouds: ['cloud_a', 'cloud_b'] }] })
  const again = await post(emulator)
  expect([again.status, again.text]).toEqual([first.status, first.text])
  expect(again.body.status).toBe('validating')
  expect(emulator.state('batch_predictions')).toHaveLength(1)
  const remaining = [first, again].map(({ headers }) => headers.get('x-ratelimit-remaining'))
  expect(remaining).toEqual(['199', '198'])
})

test.for([
  ['one character in the prompt', { ...aBatch(), prompt: 'Read the total!' }],
  ['one item more', aBatch({ items: 4 })],
  ['another order of items', aBatch({ items: someItems(3).reverse() })],
  ['an invalid prompt', { ...aBatch(), prompt: 5 }],
] as const)(
  'the same key with another body is a 409: %s',
  { tags: ['R277', 'R249'] },
  async ([, changed]) => {
    const emulator = await batchEmulator()
    const first = await post(emulator)
    await refusedProblem(emulator, () => post(emulator, changed), 409, 'idempotency_key_reused')
    expect((await post(emulator)).text).toBe(first.text)
    expect(emulator.state('batch_predictions')).toHaveLength(1)
  },
)

// The tests of exact numbers and of fingerprints have the other forms.
test('bodies are compared to the digit, in any order and form', {
  tags: ['R276', 'R277', 'T10'],
}, async () => {
  const emulator = await batchEmulator()
  const { items, ...rest } = aBatch()
  const send = (body: object, number: string) => {
    const raw = JSON.stringify({ ...body, unread: 'NUMBER' }).replace('"NUMBER"', number)
    return emulator.request('POST', CREATE, { raw, headers })
  }
  const first = await send({ items, ...rest }, '9007199254740993')
  expect((await send({ ...rest, items }, '9.007199254740993e15')).text).toBe(first.text)
  for (const other of ['9007199254740992', '"9007199254740993"', '"n9007199254740993"'])
    await refusedProblem(emulator, () => send({ items, ...rest }, other), 409, 'idempotency_key_reused')
})

test('a key is free exactly 24 hours after its first use', { tags: ['R278'] }, async () => {
  const emulator = await batchEmulator()
  const first = await post(emulator)
  emulator.advance('12h')
  await post(emulator)
  emulator.advance(`${12 * 3_600_000 - 1}ms`)
  const late = await emulator.restart()
  expect((await post(late)).text).toBe(first.text)
  late.advance('1ms')
  const { status, body } = await post(await late.restart())
  expect([status, body.id === first.body.id]).toEqual([200, false])
})

test('fifty simultaneous first uses of a key create one batch', { tags: ['R279'] }, async () => {
  const emulator = await batchEmulator()
  const responses = await Promise.all(Array.from({ length: 50 }, () => post(emulator)))
  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(emulator.state('batch_predictions')).toHaveLength(1)
})

test('the batch and the record of its key are written in one transaction', {
  tags: ['R280'],
}, async () => {
  const emulator = await batchEmulator()
  const commits: string[][] = []
  emulator.sandbox.store.onCommit(({ changes }) => commits.push(changes.map(({ table }) => table)))
  await post(emulator)
  expect(commits.filter((tables) => tables.includes('batch_predictions'))).toEqual([
    expect.arrayContaining(['batch_predictions', '$idempotency', '$schedule']),
  ])
})

test('a refusal uses no key, and a key of two teamspaces is two keys', {
  tags: ['R198', 'R276'],
}, async () => {
  const emulator = await batchEmulator()
  await refusedProblem(emulator, () => post(emulator, aBatch({ items: 0 })), 400)
  const first = await post(emulator)
  const other = await post(emulator, aBatch({ prompt: 'Another.' }), { key: 'K2' })
  const without = [await createBatch(emulator), await createBatch(emulator)]
  const ids = [first.body.id, other.body.id, ...without.map(({ id }) => id)]
  expect([first.status, other.status, new Set(ids).size]).toEqual([200, 200, 4])
})
