import { expect, test } from 'vitest'
import { setSettings } from '../../../src/core/sandboxes/change.ts'
import { aBatch, batchEmulator, bring, refusedProblem, retrieve, someItems } from '../../support/batches.ts'
import type { TestEmulator } from '../../support/emulator.ts'

const CREATE = '/batch-predictions'

function post(emulator: TestEmulator, key: string, body: object = aBatch()) {
  return emulator.post(CREATE, body, { headers: { 'idempotency-key': key } })
}

test('the same key and body replay the first response, even after the batch has moved on', {
  tags: ['R276', 'R198'],
}, async () => {
  const emulator = await batchEmulator()
  const first = await post(emulator, 'key-1')
  await bring(emulator, first.body.id, 'completed')
  const again = await post(emulator, 'key-1')
  expect([again.status, again.text]).toEqual([first.status, first.text])
  expect(again.body.status).toBe('validating')
  expect(emulator.state('batch_predictions')).toHaveLength(1)
  const remaining = [first, again].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))
  expect(remaining).toEqual([199, 198])
})

test.for([
  ['one character in the prompt', { ...aBatch(), prompt: 'Read the total!' }],
  ['one item more', aBatch({ items: 4 })],
  ['another order of items', aBatch({ items: someItems(3).reverse() })],
] as const)(
  'the same key with another body is refused with 409: %s',
  { tags: ['R277', 'R249'] },
  async ([, changed]) => {
    const emulator = await batchEmulator()
    const first = await post(emulator, 'key-1')
    await refusedProblem(emulator, () => post(emulator, 'key-1', changed), 409, 'idempotency_key_reused')
    expect((await post(emulator, 'key-1')).text).toBe(first.text)
    expect(emulator.state('batch_predictions')).toHaveLength(1)
  },
)

/** A valid creation with a field that nothing reads: a number as it is written here, which can have more digits than a double. */
function bodyWith(number: string, text = 'x'): string {
  return JSON.stringify({ ...aBatch(), unread: ['NUMBER', text] }).replace('"NUMBER"', number)
}

test.for<[one: string, other: string]>([
  ['9007199254740993', '9007199254740992'],
  ['-9007199254740993', '-9007199254740992'],
  ['0.10000000000000000001', '0.1'],
  ['1e400', '1e401'],
  ['1e400', 'null'],
  ['1e-400', '0'],
  ['9007199254740993', '"9007199254740993"'],
  ['9007199254740993', '"n9007199254740993"'],
])(
  'numbers that no double can tell apart are different bodies: %s and %s',
  {
    tags: ['R277', 'T10'],
  },
  async ([one, other]) => {
    const emulator = await batchEmulator()
    const send = (number: string, text?: string) =>
      emulator.request('POST', CREATE, {
        raw: bodyWith(number, text),
        headers: { 'idempotency-key': 'key-1' },
      })
    const first = await send(one)
    expect(first.status).toBe(200)
    await refusedProblem(emulator, () => send(other), 409, 'idempotency_key_reused')
    expect((await send(one)).text).toBe(first.text)
  },
)

test.for<[one: string, other: string]>([
  ['9007199254740993', '9007199254740993.0'],
  ['9007199254740993', '9.007199254740993e15'],
  ['100', '1e2'],
  ['-0', '0'],
  ['1e400', '10.0E+0399'],
])(
  'numbers that are equal are the same body, in any order and layout: %s and %s',
  { tags: ['R276', 'T10'] },
  async ([one, other]) => {
    const emulator = await batchEmulator()
    const send = (raw: string) =>
      emulator.request('POST', CREATE, { raw, headers: { 'idempotency-key': 'key-1' } })
    const first = await send(bodyWith(one))
    const { items, ...rest } = JSON.parse(bodyWith('"NUMBER"'))
    const reordered = JSON.stringify({ items, ...rest }, null, 2).replace('"NUMBER"', other)
    expect([first.status, (await send(reordered)).text]).toEqual([200, first.text])
  },
)

test('a key can be used again exactly 24 hours after its first use, also across a restart', {
  tags: ['R278'],
}, async () => {
  const emulator = await batchEmulator()
  const first = await post(emulator, 'key-1')
  emulator.advance('12h')
  await post(emulator, 'key-1')
  emulator.advance(`${12 * 3_600_000 - 1}ms`)
  const late = await emulator.restart()
  expect((await post(late, 'key-1')).text).toBe(first.text)
  late.advance('1ms')
  const fresh = await (await late.restart()).post(CREATE, aBatch(), {
    headers: { 'idempotency-key': 'key-1' },
  })
  expect(fresh.status).toBe(200)
  expect(fresh.body.id).not.toBe(first.body.id)
})

test('fifty simultaneous first uses of a key create one batch and give fifty equal responses', {
  tags: ['R279'],
}, async () => {
  const emulator = await batchEmulator()
  const responses = await Promise.all(Array.from({ length: 50 }, () => post(emulator, 'key-1')))
  expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(emulator.state('batch_predictions')).toHaveLength(1)
})

test('the batch and the record of its key are written in one transaction, so both survive a restart', {
  tags: ['R280'],
}, async () => {
  const emulator = await batchEmulator()
  const commits: string[][] = []
  emulator.sandbox.store.onCommit(({ changes }) => commits.push(changes.map(({ table }) => table)))
  const first = await post(emulator, 'key-1')
  expect(commits.filter((tables) => tables.includes('batch_predictions'))).toEqual([
    expect.arrayContaining(['batch_predictions', '$idempotency', '$schedule']),
  ])
  const next = await emulator.restart()
  expect((await post(next, 'key-1')).text).toBe(first.text)
  expect(next.state('batch_predictions')).toHaveLength(1)
})

test('a refused creation does not use its key', { tags: ['R276'] }, async () => {
  const emulator = await batchEmulator()
  await refusedProblem(emulator, () => post(emulator, 'key-1', aBatch({ items: 0 })), 400)
  expect((await post(emulator, 'key-1')).status).toBe(200)
})

test('the same key of two teamspaces is two keys', { tags: ['R276'] }, async () => {
  const emulator = await batchEmulator()
  const first = await post(emulator, 'key-1')
  const other = await emulator.post(CREATE, aBatch({ prompt: 'Another.' }), {
    key: 'K2',
    headers: { 'idempotency-key': 'key-1' },
  })
  expect(other.status).toBe(200)
  expect(other.body.id).not.toBe(first.body.id)
  expect((await retrieve(emulator, first.body.id)).id).toBe(first.body.id)
})

test('the first response is replayed even if new settings would refuse the request', {
  tags: ['R276'],
}, async () => {
  const emulator = await batchEmulator()
  const first = await post(emulator, 'key-1')
  setSettings(emulator.sandbox, { models: [{ id: 'another', clouds: ['cloud_a', 'cloud_b'] }] })
  const again = await post(emulator, 'key-1')
  expect([again.status, again.text]).toEqual([first.status, first.text])
})

test('the same key with an invalid body is refused with 409', {
  tags: ['R277', 'R249'],
}, async () => {
  const emulator = await batchEmulator()
  await post(emulator, 'key-1')
  const invalid = { ...aBatch(), prompt: 5 }
  await refusedProblem(emulator, () => post(emulator, 'key-1', invalid), 409, 'idempotency_key_reused')
})
