import { expect, test } from 'vitest'
import { createNote, sandboxOf } from '../../../test/support/notes.ts'
import type { JsonObject } from '../json.ts'
import { operation } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { Resource } from '../service.ts'
import { advance } from '../time/advance.ts'
import type { Call, CallBody } from './exchange.ts'
import { IDEMPOTENCY } from './idempotency.ts'
import { perform } from './pipeline.ts'

const note = operation({ ...createNote, idempotent: true, success: 201 })
const ring = operation({ ...note, name: 'bells.ring', idempotent: false })

async function makeSandbox(settings: JsonObject = {}): Promise<Sandbox> {
  const resource: Resource = { name: 'notes', operations: [note, ring], collections: [] }
  return sandboxOf(resource, { keys: ['a', 'b'], settings })
}

function json(text: string): CallBody {
  return { kind: 'json', value: JSON.parse(text), bytes: new TextEncoder().encode(text) }
}

/** Sends a body under a key. Returns the status, and the id of the note or the code of the error. */
function send(
  sandbox: Sandbox,
  key: string | undefined,
  {
    body = json('{"a":1}'),
    over = {},
    by = 'a',
  }: { body?: CallBody; over?: Partial<Call>; by?: string } = {},
): [number, string] {
  const headers = { authorization: `Bearer ${by}`, ...(key !== undefined && { 'idempotency-key': key }) }
  const call = {
    operation: note,
    method: 'POST',
    path: '/v1/notes',
    pathPrefix: '',
    chosenBy: 'default',
  } as const
  const { status, text } = perform(sandbox, { ...call, params: {}, query: {}, headers, body, ...over })
  const { id, error } = JSON.parse(text ?? '{}')
  return [status, id ?? error]
}

const notesIn = (sandbox: Sandbox) => sandbox.store.rows('notes').size
const recordsIn = (sandbox: Sandbox) => sandbox.store.rows(IDEMPOTENCY).size

test('the same key and body get the first response with its status, and nothing is done again', {
  tags: ['R276'],
}, async () => {
  const sandbox = await makeSandbox()
  const first = send(sandbox, 'k')
  expect([first[0], send(sandbox, 'k'), notesIn(sandbox), recordsIn(sandbox)]).toEqual([201, first, 1, 1])
  expect(sandbox.log.entries().map(({ decided }) => decided)).toEqual(['handle', 'replay'])
})

test('another body under the key is a conflict, after which the first one still replays', {
  tags: ['R277'],
}, async () => {
  const sandbox = await makeSandbox()
  const first = send(sandbox, 'k')
  expect(send(sandbox, 'k', { body: json('{"a":2}') })).toEqual([409, 'idempotency_key_reused'])
  expect([send(sandbox, 'k'), notesIn(sandbox)]).toEqual([first, 1])
})

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

test('no response is stored without a key or a body, or when the operation ignores such keys', {
  tags: ['R198'],
}, async () => {
  const sandbox = await makeSandbox()
  for (const again of [1, 2]) {
    send(sandbox, undefined)
    send(sandbox, 'k', { body: { kind: 'none' } })
    send(sandbox, 'k', { over: { operation: ring } })
    expect([notesIn(sandbox), recordsIn(sandbox)]).toEqual([3 * again, 0])
  }
  expect(send(sandbox, 'k'.repeat(300), { over: { operation: ring } })[0]).toBe(201)
})

test('each teamspace has its own keys', { tags: ['U059'] }, async () => {
  const sandbox = await makeSandbox()
  const [mine, theirs] = [send(sandbox, 'k'), send(sandbox, 'k', { by: 'b', body: json('{"a":2}') })]
  expect([mine[0], theirs[0], notesIn(sandbox)]).toEqual([201, 201, 2])
})

test.for([
  ['json', 201],
  ['bytes', 409],
] as const)(
  'compared as %s, a body that differs only in white space gets the status %d',
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

test('a key is free again after 24 hours', { tags: ['R278'] }, async () => {
  const sandbox = await makeSandbox()
  const first = send(sandbox, 'k')
  await advance(sandbox, { to: (now) => now + 86_400_000 - 1 })
  expect(send(sandbox, 'k')).toEqual(first)
  await advance(sandbox, { to: (now) => now + 1 })
  expect(send(sandbox, 'k')[1]).not.toBe(first[1])
  expect([notesIn(sandbox), recordsIn(sandbox)]).toEqual([2, 1])
})
