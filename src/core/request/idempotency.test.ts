import { expect, test } from 'vitest'
import { Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import { Store } from '../state/store.ts'
import {
  fingerprint,
  fingerprintBytes,
  IDEMPOTENCY,
  idempotencyId,
  recallResponse,
  rememberResponse,
} from './idempotency.ts'

const T0 = Date.parse('2026-03-01T12:00:00.000Z')
const DAY = 86_400_000

function remember(store: Store, id: string, at: number, body: Json = { id }): void {
  const record = { id, fingerprint: `print of ${id}`, status: 200, body }
  store.transaction(new Date(at).toISOString(), (tx) => rememberResponse(tx, record, at))
}

function conflictOf(store: Store, mismatch?: number): Refusal {
  try {
    recallResponse(store.begin(), 'k', 'another print', T0, mismatch)
  } catch (error) {
    return error as Refusal
  }
  throw new Error('it was not refused')
}

test('a stored response is found until 24 hours have passed, but not at that instant', {
  tags: ['R276', 'R278'],
}, () => {
  const store = new Store()
  remember(store, 'k', T0, { name: 'first' })
  const at = (now: number) => recallResponse(store.begin(), 'k', 'print of k', now)
  expect(at(T0)).toEqual({
    id: 'k',
    fingerprint: 'print of k',
    status: 200,
    body: { name: 'first' },
    created_at: '2026-03-01T12:00:00.000Z',
    expires_at: '2026-03-02T12:00:00.000Z',
  })
  expect(at(T0 + DAY - 1)?.body).toEqual({ name: 'first' })
  expect(at(T0 + DAY)).toBeUndefined()
  expect(recallResponse(store.begin(), 'unknown', 'print of k', T0)).toBeUndefined()
})

test('another body under a key is refused with the time at which the key was first used', {
  tags: ['R277'],
}, () => {
  const store = new Store()
  remember(store, 'k', T0)
  const refusal = conflictOf(store)
  expect(refusal).toBeInstanceOf(Refusal)
  expect([refusal.code, refusal.options.status]).toEqual(['idempotency_key_reused', undefined])
  expect(refusal.options).not.toHaveProperty('status')
  expect(refusal.message).toContain('first used at 2026-03-01T12:00:00.000Z')
  expect(conflictOf(store, 422).options.status).toBe(422)
})

test('a key whose record has expired is free for any body', { tags: ['R278'] }, () => {
  const store = new Store()
  remember(store, 'k', T0)
  expect(recallResponse(store.begin(), 'k', 'another print', T0 + DAY)).toBeUndefined()
})

test('a new record deletes exactly the records that have expired, to the millisecond', {
  tags: ['R278'],
}, () => {
  const store = new Store()
  for (const [n, id] of ['a', 'b', 'c'].entries()) remember(store, id, T0 + n)
  remember(store, 'd', T0 + DAY + 1)
  expect([...store.rows(IDEMPOTENCY).keys()]).toEqual(['c', 'd'])
})

test('a key belongs to one teamspace and one operation', { tags: ['U059'] }, () => {
  const ids = [
    idempotencyId('ts-a', 'batches.create', 'k'),
    idempotencyId('ts-b', 'batches.create', 'k'),
    idempotencyId('ts-a', 'batches.cancel', 'k'),
    idempotencyId('ts-a', 'batches.create', 'other'),
  ]
  expect(new Set(ids).size).toBe(4)
})

test.for<[one: Json, other: Json]>([
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  [{ list: [{ a: 1, b: 2 }] }, { list: [{ b: 2, a: 1 }] }],
  [[[{ a: null, b: [] }]], [[{ b: [], a: null }]]],
])('%j and %j have the same fingerprint', { tags: ['T10'] }, ([one, other]) => {
  expect(fingerprint(one)).toBe(fingerprint(other))
  expect(fingerprint(one)).toMatch(/^[0-9a-f]{64}$/)
})

test.for<[one: Json, other: Json]>([
  [
    [1, 2],
    [2, 1],
  ],
  [[], {}],
  [[[1], 2], [[1, 2]]],
  [
    [1, [2]],
    [[1], 2],
  ],
  ['1', 1],
  ['null', null],
  [{ a: '' }, { a: null }],
  [{ a: { b: 1 } }, { a: 1, b: 1 }],
  [['a', 'b'], ['a,b']],
  [{ 0: 'a' }, ['a']],
])('%j and %j have different fingerprints', { tags: ['T10'] }, ([one, other]) => {
  expect(fingerprint(one)).not.toBe(fingerprint(other))
})

test('white space makes another body when bodies are compared byte for byte', { tags: ['T10'] }, () => {
  const bytes = (text: string) => fingerprintBytes(new TextEncoder().encode(text))
  expect(bytes('{"a":1}')).toBe(bytes('{"a":1}'))
  expect(bytes('{"a":1}')).not.toBe(bytes('{"a": 1}'))
  expect(bytes('{"a":1}')).toMatch(/^[0-9a-f]{64}$/)
})
