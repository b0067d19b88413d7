import { expect, test } from 'vitest'
import { createNote, sandboxOf } from '../../../test/support/notes.ts'
import type { JsonObject } from '../json.ts'
import { operation } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { Resource } from '../service.ts'
import type { Call, CallBody } from './exchange.ts'
import { IDEMPOTENCY } from './idempotency.ts'
import { perform } from './pipeline.ts'

const note = operation({ ...createNote, idempotent: true, success: 201 })
const ring = operation({ ...note, name: 'bells.ring', idempotent: false })

const resource: Resource = { name: 'notes', operations: [note, ring], collections: [] }
const makeSandbox = (settings: JsonObject = {}) => sandboxOf(resource, { keys: ['a'], settings })
const json = (text: string): CallBody => ({ kind: 'json', value: JSON.parse(text), bytes: Buffer.from(text) })

/** Sends a body under a key. Returns the status, and the id of the note or the code of the error. */
function send(
  sandbox: Sandbox,
  key: string | undefined,
  { body = json('{"a":1}'), operation = note }: { body?: CallBody; operation?: Call['operation'] } = {},
): [number, string] {
  const headers = { authorization: 'Bearer a', ...(key !== undefined && { 'idempotency-key': key }) }
  const route = { operation, method: 'POST', path: '/v1/notes', params: {}, query: {} } as const
  const { status, text } = perform(sandbox, { ...route, pathPrefix: '', chosenBy: 'default', headers, body })
  const { id, error } = JSON.parse(text ?? '{}')
  return [status, id ?? error]
}

const notesIn = (sandbox: Sandbox) => sandbox.store.rows('notes').size
const recordsIn = (sandbox: Sandbox) => sandbox.store.rows(IDEMPOTENCY).size

test.for([
  [1, 201],
  [255, 201],
  [0, 400],
  [256, 400],
])('a key of %d characters gets the status %d', { tags: ['U059'] }, async ([length, status]) => {
  const sandbox = await makeSandbox()
  expect(send(sandbox, 'k'.repeat(length ?? 0))[0]).toBe(status)
  expect([notesIn(sandbox), recordsIn(sandbox)]).toEqual(status === 201 ? [1, 1] : [0, 0])
})

test('no response is stored without key, body or operation with keys', { tags: ['R198'] }, async () => {
  const sandbox = await makeSandbox()
  for (const again of [1, 2]) {
    send(sandbox, undefined)
    send(sandbox, 'k', { body: { kind: 'none' } })
    send(sandbox, 'k', { operation: ring })
    expect([notesIn(sandbox), recordsIn(sandbox)]).toEqual([3 * again, 0])
  }
  expect(send(sandbox, 'k'.repeat(300), { operation: ring })[0]).toBe(201)
})

test.for([
  ['json', 201],
  ['bytes', 409],
] as const)(
  'compared as %s, white space makes the status %d',
  { tags: ['T10'] },
  async ([compare, status]) => {
    const sandbox = await makeSandbox({ 'idempotency.compare': compare })
    send(sandbox, 'k')
    expect(send(sandbox, 'k', { body: json('{ "a": 1 }') })[0]).toBe(status)
    expect(send(sandbox, 'k')[0]).toBe(201)
  },
)

test('a body whose bytes were not kept is compared as JSON', async () => {
  const sandbox = await makeSandbox({ 'idempotency.compare': 'bytes' })
  const body: CallBody = { kind: 'json', value: { a: 1 } }
  expect(send(sandbox, 'k', { body })).toEqual(send(sandbox, 'k', { body }))
  expect(notesIn(sandbox)).toBe(1)
})
