import { expect, test } from 'vitest'
import { Ledger } from '../assumptions.ts'
import { refuse } from '../errors.ts'
import type { Action } from '../faults/actions.ts'
import { type FaultRule, faultRules } from '../faults/rule.ts'
import { kernelAssumptions } from '../open-items.ts'
import { operation, type Resource, service } from '../operation.ts'
import { buildWorld } from '../state/starting-world.ts'
import { Sandbox } from '../worlds/sandbox.ts'
import { type WorldOptions, worldDefaults } from '../worlds/world.ts'
import type { Call } from './exchange.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')

const note = operation({
  name: 'notes.create',
  method: 'POST',
  path: '/notes',
  summary: 'Write a note',
  section: 'none',
  dialect: 'standard',
  contract: true,
  success: 200,
  handle: ({ tx, newId }) => {
    const record = { id: newId() }
    tx.put('notes', record)
    return { body: record }
  },
})

const broken = operation({ ...note, name: 'notes.break', handle: () => JSON.parse('{') as never })

const room: Resource = {
  name: 'notes',
  operations: [note, broken],
  collections: [],
  events: [{ kind: 'ring', says: 'Rings.', handle: ({ tx, now }) => tx.put('rings', { id: String(now) }) }],
}

async function sandbox(
  rate = 0,
  host = () => START,
  surprises: unknown[] = [],
  options: Partial<WorldOptions> = {},
): Promise<Sandbox> {
  const [all, ledger] = [service([room]), new Ledger([kernelAssumptions])]
  const start = { seed: 1, now: START, rate, skip_on_poll: false, settings: {}, strict: false, host }
  const key = { id: 'k', kind: 'user', token: 't', user_id: 'u', organization_id: 'o', teamspace_id: 'ts' }
  const built = await buildWorld({ collections: { api_keys: [key] }, generate: {} }, start, all, ledger)
  if (!('world' in built)) throw new Error(JSON.stringify(built.issues))
  const onSurprise = (error: unknown) => surprises.push(error)
  const made = { ...worldDefaults, service: all, ledger, host, onSurprise, ...options }
  return new Sandbox(made, built.world)
}

function call(over: Partial<Call> = {}): Call {
  const nothing = { params: {}, query: {}, body: { kind: 'none' } } as const
  const headers = { authorization: 'Bearer t' }
  return {
    operation: note,
    method: 'POST',
    path: '/v1/notes',
    pathPrefix: '',
    chosenBy: 'default',
    headers,
    ...nothing,
    ...over,
  }
}

test('R123 a disk that takes nothing is a 507 that says so, and nothing has happened', async () => {
  const world = await sandbox()
  const full = {
    append: () => refuse('storage_unavailable', { detail: 'The disk is full.' }),
    durable: () => undefined,
  }
  world.store.journal = full
  const answer = world.perform(call())
  expect([answer.status, JSON.parse(answer.text ?? '')]).toMatchObject([
    507,
    { error: 'storage_unavailable', retryable: true },
  ])
  expect(world.store.rows('notes').size).toBe(0)
  world.store.journal = undefined
  expect(world.perform(call()).status).toBe(200)
})

test('an event that cannot be written waits, and the request meanwhile is answered all the same', async () => {
  let now = START
  const world = await sandbox(1, () => now)
  world.change(({ schedule }) =>
    schedule({ kind: 'ring', ref: 'r/1', due: START + 1_000, urgency: 'work', says: 'Rings.' }),
  )
  const full = {
    append: () => refuse('storage_unavailable', { detail: 'The disk is full.' }),
    durable: () => undefined,
  }
  world.store.journal = full
  now += 5_000
  expect(world.perform(call()).status).toBe(507)
  world.store.journal = undefined
  expect(world.perform(call()).status).toBe(200)
  expect([...world.store.rows('rings').keys()]).toEqual([String(START + 1_000)])
})

test('R253 a defect of a handler is a plain 500, told to whoever runs the emulator', async () => {
  const surprises: unknown[] = []
  const world = await sandbox(0, () => START, surprises)
  const answer = world.perform(call({ operation: broken }))
  expect(answer.status).toBe(500)
  expect(answer.text).not.toMatch(/JSON|Unexpected| at /)
  expect(surprises).toHaveLength(1)
})

test('a digest read from the state is no key', async () => {
  const world = await sandbox()
  const [key] = world.document().collections.api_keys as unknown as { token: string }[]
  expect(key?.token).toMatch(/^sha256:/)
  expect(world.perform(call({ headers: { authorization: `Bearer ${key?.token}` } })).status).toBe(401)
})

test('the log says of each request which step decided it', async () => {
  const world = await sandbox()
  world.perform(call())
  world.perform(call({ headers: {} }))
  world.limiter.fill('ts notes.create', world.limitOf('notes.create'), START, 0)
  world.perform(call())
  expect(world.log.entries().map(({ decided, status }) => [decided, status])).toEqual([
    ['handle', 200],
    ['identify', 401],
    ['admit', 429],
  ])
})

test('the request log keeps the newest entries and counts those that it dropped', async () => {
  const world = await sandbox()
  for (let n = 0; n < 1_010; n++) world.perform(call({ headers: {} }))
  const entries = world.log.entries()
  expect([entries.length, world.log.dropped]).toEqual([1_000, 10])
  expect([entries[0]?.id, entries.at(-1)?.id]).toEqual(['default-000011', 'default-001010'])
})

function arm(world: Sandbox, id: string, actions: readonly Action[]): void {
  const rule: FaultRule = {
    id,
    source: 'control',
    preset: null,
    description: null,
    match: 'everything',
    when: {},
    do: actions,
    actions: {},
    priority: 0,
    then: 'continue',
    times: null,
    ttl: null,
    armed_at: '2026-03-01T12:00:00.000Z',
    armed_wall: '2026-03-01T12:00:00.000Z',
  }
  world.change(({ tx }) => tx.put(faultRules.name, rule))
}

test('an answer names the rules that fired on it where that is asked for, in characters that a header can have', async () => {
  const world = await sandbox(0, undefined, [], { revealFaults: true })
  arm(world, 'lost-create', [{ clock: { offset: '1s' } }])
  arm(world, 'magic:a\nb, ü', [])
  expect(world.perform(call()).headers).toContainEqual(['X-Emulator-Fault', 'lost-create, magic:a_b___'])
  const plain = await sandbox()
  arm(plain, 'lost-create', [{ clock: { offset: '1s' } }])
  expect(plain.perform(call()).headers.map(([name]) => name)).not.toContain('X-Emulator-Fault')
})

test('R253 a fault that fails is a plain 500, told to whoever runs the emulator', async () => {
  const surprises: unknown[] = []
  const world = await sandbox(0, undefined, surprises)
  arm(world, 'broken', [{ auth: null } as unknown as Action])
  expect(world.perform(call()).status).toBe(500)
  expect(surprises).toHaveLength(1)
})

test('R123 a fault that cannot be counted or written is a 507, and nothing has happened', async () => {
  const world = await sandbox()
  arm(world, 'revoke', [{ auth: { revoke: true } }])
  world.store.journal = {
    append: () => refuse('storage_unavailable', { detail: 'The disk is full.' }),
    durable: () => undefined,
  }
  expect(world.perform(call()).status).toBe(507)
  expect([world.store.rows('api_keys').size, world.store.rows('$fault_counters').size]).toEqual([1, 0])
})
