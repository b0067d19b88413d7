import { expect, test } from 'vitest'
import { Ledger } from '../assumptions.ts'
import type { JsonObject } from '../json.ts'
import { kernelAssumptions } from '../open-items.ts'
import { operation, type Resource, service } from '../operation.ts'
import { buildWorld } from '../state/starting-world.ts'
import { Sandbox } from '../worlds/sandbox.ts'
import { worldDefaults } from '../worlds/world.ts'
import type { Call, CallBody } from './exchange.ts'
import { IDEMPOTENCY } from './idempotency.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')

const note = operation({
  name: 'notes.create',
  method: 'POST',
  path: '/notes',
  summary: 'Write a note',
  section: 'none',
  dialect: 'standard',
  contract: true,
  idempotent: true,
  success: 201,
  handle: ({ tx, newId }) => {
    const record = { id: newId() }
    tx.put('notes', record)
    return { body: record }
  },
})
const ring = operation({ ...note, name: 'bells.ring', idempotent: false })

async function sandbox(settings: JsonObject = {}): Promise<Sandbox> {
  const room: Resource = { name: 'notes', operations: [note, ring], collections: [] }
  const [all, ledger] = [service([room]), new Ledger([kernelAssumptions])]
  const host = () => START
  const start = { seed: 1, now: START, rate: 0, skip_on_poll: false, settings, strict: false, host }
  const key = (id: string) => ({
    id,
    kind: 'user',
    token: id,
    user_id: 'u',
    organization_id: 'o',
    teamspace_id: id,
  })
  const built = await buildWorld(
    { collections: { api_keys: ['a', 'b'].map(key) }, generate: {} },
    start,
    all,
    ledger,
  )
  if (!('world' in built)) throw new Error(JSON.stringify(built.issues))
  return new Sandbox({ ...worldDefaults, service: all, ledger, host }, built.world)
}

function json(text: string): CallBody {
  return { kind: 'json', value: JSON.parse(text), bytes: new TextEncoder().encode(text) }
}

/** Sends a body under a key; what is answered is the status and the id of the note, or the code of the error. */
function send(
  world: Sandbox,
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
  const { status, text } = world.perform({ ...call, params: {}, query: {}, headers, body, ...over })
  const { id, error } = JSON.parse(text ?? '{}')
  return [status, id ?? error]
}

const notesIn = (world: Sandbox) => world.store.rows('notes').size
const recordsIn = (world: Sandbox) => world.store.rows(IDEMPOTENCY).size

test('R276 the same key and body give the first answer, status and all, and nothing is done again', async () => {
  const world = await sandbox()
  const first = send(world, 'k')
  expect([first[0], send(world, 'k'), notesIn(world), recordsIn(world)]).toEqual([201, first, 1, 1])
  expect(world.log.entries().map(({ decided }) => decided)).toEqual(['handle', 'recall'])
})

test('R277 another body under the key is a conflict, after which the first one still replays', async () => {
  const world = await sandbox()
  const first = send(world, 'k')
  expect(send(world, 'k', { body: json('{"a":2}') })).toEqual([409, 'idempotency_key_reused'])
  expect([send(world, 'k'), notesIn(world)]).toEqual([first, 1])
})

test.for([
  [1, 201],
  [255, 201],
  [0, 400],
  [256, 400],
])('U059 a key of %d characters is answered with %d', async ([length, status]) => {
  const world = await sandbox()
  expect(send(world, 'k'.repeat(length ?? 0))[0]).toBe(status)
  expect([notesIn(world), recordsIn(world)]).toEqual(status === 201 ? [1, 1] : [0, 0])
})

test('R198 without a key, or a body, or where the operation knows no such key, nothing is remembered', async () => {
  const world = await sandbox()
  for (const again of [1, 2]) {
    send(world, undefined)
    send(world, 'k', { body: { kind: 'none' } })
    send(world, 'k', { over: { operation: ring } })
    expect([notesIn(world), recordsIn(world)]).toEqual([3 * again, 0])
  }
  expect(send(world, 'k'.repeat(300), { over: { operation: ring } })[0]).toBe(201)
})

test('U059 each teamspace has its own keys', async () => {
  const world = await sandbox()
  const [mine, theirs] = [send(world, 'k'), send(world, 'k', { by: 'b', body: json('{"a":2}') })]
  expect([mine[0], theirs[0], notesIn(world)]).toEqual([201, 201, 2])
})

test.for([
  ['json', 201],
  ['bytes', 409],
] as const)(
  'T10 compared as %s, a body that only differs in white space is answered with %d',
  async ([compare, status]) => {
    const world = await sandbox({ 'idempotency.compare': compare })
    send(world, 'k')
    expect(send(world, 'k', { body: json('{ "a": 1 }') })[0]).toBe(status)
    expect(send(world, 'k')[0]).toBe(201)
  },
)

test('a body of which no bytes were kept is compared as JSON', async () => {
  const world = await sandbox({ 'idempotency.compare': 'bytes' })
  const body: CallBody = { kind: 'json', value: { a: 1 } }
  expect(send(world, 'k', { body })).toEqual(send(world, 'k', { body }))
  expect(notesIn(world)).toBe(1)
})

test('R278 24 hours later the key is free', async () => {
  const world = await sandbox()
  const first = send(world, 'k')
  await world.advance({ to: (now) => now + 86_400_000 - 1 })
  expect(send(world, 'k')).toEqual(first)
  await world.advance({ to: (now) => now + 1 })
  expect(send(world, 'k')[1]).not.toBe(first[1])
  expect([notesIn(world), recordsIn(world)]).toEqual([2, 1])
})
