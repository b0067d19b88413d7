import { expect, test } from 'vitest'
import { setSettings } from '../../../src/core/sandboxes/change.ts'
import { aBatch, batchEmulator, bring, refusedProblem, someItems } from '../../support/batches.ts'
import type { RequestOptions, TestEmulator } from '../../support/emulator.ts'

const CREATE = '/batch-predictions'
const headers = { 'idempotency-key': 'key-1' }

const post = (emulator: TestEmulator, body: object = aBatch(), how: RequestOptions = {}) =>
  emulator.post(CREATE, body, { headers, ...how })

test('the same key and body replay the first response', { tags: ['R276', 'R198'] }, async () => {
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

/** A valid creation with a field that nothing reads: a number as it is written here, which can have more digits than a double. */
function bodyWith(number: string): string {
  return JSON.stringify({ ...aBatch(), unread: ['NUMBER', 'x'] }).replace('"NUMBER"', number)
}

const send = (emulator: TestEmulator, raw: string) => emulator.request('POST', CREATE, { raw, headers })

test.for<[one: string, other: string]>([
  ['9007199254740993', '9007199254740992'],
  ['-9007199254740993', '-9007199254740992'],
  ['0.10000000000000000001', '0.1'],
  ['1e400', '1e401'],
  ['1e400', 'null'],
  ['1e-400', '0'],
  ['9007199254740993', '"9007199254740993"'],
  ['9007199254740993', '"n9007199254740993"'],
])('bodies with %s and %s are different, to the digit', { tags: ['R277', 'T10'] }, async ([one, other]) => {
  const emulator = await batchEmulator()
  const first = await send(emulator, bodyWith(one))
  expect(first.status).toBe(200)
  const differing = () => send(emulator, bodyWith(other))
  await refusedProblem(emulator, differing, 409, 'idempotency_key_reused')
})

test.for<[one: string, other: string]>([
  ['9007199254740993', '9007199254740993.0'],
  ['9007199254740993', '9.007199254740993e15'],
  ['100', '1e2'],
  ['-0', '0'],
  ['1e400', '10.0E+0399'],
])('bodies with %s and %s are the same', { tags: ['R276', 'T10'] }, async ([one, other]) => {
  const emulator = await batchEmulator()
  const first = await send(emulator, bodyWith(one))
  const { items, ...rest } = JSON.parse(bodyWith('"NUMBER"'))
  const reordered = JSON.stringify({ items, ...rest }, null, 2).replace('"NUMBER"', other)
  expect([first.status, (await send(emulator, reordered)).text]).toEqual([200, first.text])
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

test('the batch and the record of its key are written in one transaction', { tags: ['R280'] }, async () => {
  const emulator = await batchEmulator()
  const commits: string[][] = []
  emulator.sandbox.store.onCommit(({ changes }) => commits.push(changes.map(({ table }) => table)))
  await post(emulator)
  expect(commits.filter((tables) => tables.includes('batch_predictions'))).toEqual([
    expect.arrayContaining(['batch_predictions', '$idempotency', '$schedule']),
  ])
})

test('a refusal uses no key, and a key of two teamspaces is two keys', { tags: ['R276'] }, async () => {
  const emulator = await batchEmulator()
  await refusedProblem(emulator, () => post(emulator, aBatch({ items: 0 })), 400)
  const first = await post(emulator)
  const other = await post(emulator, aBatch({ prompt: 'Another.' }), { key: 'K2' })
  expect([first.status, other.status, other.body.id === first.body.id]).toEqual([200, 200, false])
})
