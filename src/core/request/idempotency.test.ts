import { expect, test } from 'vitest'
import type { Json } from '../json.ts'
import { Store } from '../state/store.ts'
import { fingerprint, fingerprintBytes, IDEMPOTENCY, idempotencyId, rememberResponse } from './idempotency.ts'

const T0 = Date.parse('2026-03-01T12:00:00.000Z')
const DAY = 86_400_000

function remember(store: Store, id: string, at: number, body: Json = { id }): void {
  const record = { id, fingerprint: `print of ${id}`, status: 200, body }
  store.transaction(new Date(at).toISOString(), (tx) => rememberResponse(tx, record, at))
}

test('a new record deletes exactly the records that have expired', { tags: ['R278'] }, () => {
  const store = new Store()
  for (const [n, id] of ['a', 'b', 'c'].entries()) remember(store, id, T0 + n)
  remember(store, 'd', T0 + DAY + 1)
  expect([...store.rows(IDEMPOTENCY).keys()]).toEqual(['c', 'd'])
})

test('a key belongs to one teamspace and one operation', { tags: ['U059'] }, () => {
  const id = idempotencyId('ts-a', 'create', 'k')
  const others = [idempotencyId('ts-b', 'create', 'k'), idempotencyId('ts-a', 'cancel', 'k')]
  expect(new Set([id, ...others, idempotencyId('ts-a', 'create', 'other')]).size).toBe(4)
})

test.for([
  ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}'],
  ['[[{"a": null, "b": []}]]', '[[{"b": [], "a": null}]]'],
] as const)('%s and %s have the same fingerprint', { tags: ['T10'] }, ([one, other]) => {
  expect(fingerprint(JSON.parse(one))).toBe(fingerprint(JSON.parse(other)))
})

test.for([
  ['[1, 2]', '[2, 1]'],
  ['[]', '{}'],
  ['[[1], 2]', '[[1, 2]]'],
  ['[1, [2]]', '[[1], 2]'],
  ['"1"', '1'],
  ['"null"', 'null'],
  ['{"a": ""}', '{"a": null}'],
  ['{"a": {"b": 1}}', '{"a": 1, "b": 1}'],
  ['["a", "b"]', '["a,b"]'],
  ['{"0": "a"}', '["a"]'],
] as const)('%s and %s have different fingerprints', { tags: ['T10'] }, ([one, other]) => {
  expect(fingerprint(JSON.parse(one))).not.toBe(fingerprint(JSON.parse(other)))
})

test('white space makes another body when bodies are compared byte for byte', { tags: ['T10'] }, () => {
  const bytes = (text: string) => fingerprintBytes(new TextEncoder().encode(text))
  expect(bytes('{"a":1}')).not.toBe(bytes('{"a": 1}'))
})
