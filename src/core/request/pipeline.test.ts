import { expect, test } from 'vitest'
import { armRule } from '../../../test/support/faults.ts'
import { fullDisk } from '../../../test/support/journal.ts'
import { createNote, START, sandboxOf } from '../../../test/support/notes.ts'
import { refuse } from '../errors.ts'
import { faultHooks } from '../faults/hooks.ts'
import type { Action } from '../faults/primitive.ts'
import type { Evidence } from '../log/evidence.ts'
import { operation } from '../operation.ts'
import { noteArrival } from '../record/recording.ts'
import { change } from '../sandboxes/change.ts'
import type { Resource } from '../service.ts'
import { formatInstant } from '../time/instant.ts'
import type { Call } from './exchange.ts'
import { perform, performTogether } from './pipeline.ts'

type SandboxPlan = Parameters<typeof sandboxOf>[1]

const broken = operation({ ...createNote, name: 'notes.break', handle: () => JSON.parse('{') as never })

const clear = operation({
  ...createNote,
  name: 'notes.clear',
  handle: ({ tx }) => {
    for (const { id } of tx.in({ name: 'notes', label: 'note' })) tx.delete('notes', id)
    return { body: {} }
  },
})

const resource: Resource = {
  name: 'notes',
  operations: [createNote, broken, clear],
  collections: [],
  events: [
    { kind: 'ring', description: 'Rings.', handle: ({ tx, now }) => tx.put('rings', { id: String(now) }) },
  ],
}

async function makeSandbox(plan: Partial<SandboxPlan> = {}) {
  const defects: unknown[] = []
  const onDefect = (error: unknown) => defects.push(error)
  const options = { onDefect, hooks: faultHooks, ...plan.options }
  const sandbox = await sandboxOf(resource, { keys: ['k'], ...plan, options })
  return { sandbox, defects }
}

function call(over: Partial<Call> = {}): Call {
  const route = { operation: createNote, method: 'POST', path: '/v1/notes', params: {}, query: {} } as const
  const rest = { headers: { authorization: 'Bearer k' }, body: { kind: 'none' } } as const
  return { ...route, pathPrefix: '', chosenBy: 'default', ...rest, ...over }
}

test.for([
  { fails: [false, true], statuses: [200, 200, 507], notes: 0 },
  { fails: [true, false], statuses: [507, 507, 200], notes: 2 },
])('of requests together, only those whose write fails are refused: $fails', async (given) => {
  const { sandbox } = await makeSandbox()
  perform(sandbox, call())
  const write = (): void => {
    if (given.fails.shift()) refuse('storage_unavailable', { detail: 'The disk is full.' })
  }
  // The removal of records is written with the creation before it. The last creation is a write of its own.
  sandbox.store.journal = { append: (_, isHeld) => isHeld || write(), flush: write }
  const responses = performTogether(sandbox, [call(), call({ operation: clear }), call()])
  expect(responses.map(({ status }) => status)).toEqual(given.statuses)
  expect(sandbox.store.rows('notes').size).toBe(given.notes)
  const log = [...sandbox.log.entries()].slice(1).map(({ status, commit }) => [status, commit !== undefined])
  expect(log).toEqual(given.statuses.map((status) => [status, status === 200]))
})

test('each of the requests that run together is recorded at the instant that it has read', async () => {
  let now = START
  const { sandbox } = await makeSandbox({ rate: 1, host: () => now++ })
  const calls = [1, 2, 3].map(() => {
    const evidence = {} as Evidence
    noteArrival(evidence, { method: 'POST', target: '/v1/notes', version: '1.1', headers: [] })
    return call({ evidence })
  })
  performTogether(sandbox, calls)
  const recorded = sandbox.recording.parts.flatMap(({ items }) => items.map(({ at }) => formatInstant(at)))
  expect(recorded).toEqual([...sandbox.log.entries()].map(({ at }) => at))
  expect(new Set(recorded).size).toBe(3)
})

test('on a full disk a request is a 507, and due events run later', { tags: ['R123'] }, async () => {
  let now = START
  const { sandbox } = await makeSandbox({ rate: 1, host: () => now })
  change(sandbox, ({ schedule }) =>
    schedule({ kind: 'ring', ref: 'r/1', due: START + 1_000, urgency: 'work', description: 'Rings.' }),
  )
  sandbox.store.journal = fullDisk
  now += 5_000
  expect(perform(sandbox, call()).status).toBe(507)
  sandbox.store.journal = undefined
  expect(perform(sandbox, call()).status).toBe(200)
  expect([...sandbox.store.rows('rings').keys()]).toEqual([String(START + 1_000)])
})

test('a defect of a handler is reported, and is a 500 without details', { tags: ['R253'] }, async () => {
  const { sandbox, defects } = await makeSandbox()
  const response = perform(sandbox, call({ operation: broken }))
  expect(response.status).toBe(500)
  expect(response.text).not.toMatch(/JSON|Unexpected| at /)
  expect(defects).toHaveLength(1)
})

const late = { id: 'lost-create', then: 'continue', do: [{ clock: { offset: '1s' } }] } as const

test('a response names the rules that fired when revealFaults is on, in characters that a header can have', async () => {
  const { sandbox } = await makeSandbox({ options: { revealFaults: true } })
  armRule(sandbox, late)
  armRule(sandbox, { id: 'magic:a\nb, ü' })
  expect(perform(sandbox, call()).headers).toContainEqual(['X-Emulator-Fault', 'lost-create, magic:a_b___'])
  const { sandbox: plain } = await makeSandbox()
  armRule(plain, late)
  expect(perform(plain, call()).headers.map(([name]) => name)).not.toContain('X-Emulator-Fault')
})

test('a fault that fails is a 500, and is reported', { tags: ['R253'] }, async () => {
  const { sandbox, defects } = await makeSandbox()
  armRule(sandbox, { do: [{ auth: null } as unknown as Action] })
  expect(perform(sandbox, call()).status).toBe(500)
  expect(defects).toHaveLength(1)
})
