import { expect, onTestFinished, test } from 'vitest'
import { builtState, startAt } from '../../../test/support/built-state.ts'
import { libraryService, START } from '../../../test/support/control-emulator.ts'
import { fullDisk, journalOf } from '../../../test/support/journal.ts'
import { libraryEmulator } from '../../../test/support/library.ts'
import { MemoryScenarios, type TestScenario } from '../../../test/support/memory-scenarios.ts'
import { change } from '../../core/sandboxes/change.ts'
import { Sandbox, sandboxDefaults } from '../../core/sandboxes/sandbox.ts'
import { type ScenarioCall, scenarioCalls } from '../../core/scenarios/row.ts'
import type { ScenarioCommand } from '../../core/scenarios/source.ts'
import { FunctionCaller } from './caller.ts'

const shelf = { id: 's9', name: 'New', note: null, created_at: '2026-01-01T00:00:00.000Z' }
const put: ScenarioCommand = { kind: 'put', collection: 'shelves', record: shelf }

function callOf(timeline: number): ScenarioCall {
  const facts = { scenario: 's', at: '2026-03-01T12:00:00.000Z', event: null, depth: 0 }
  return { ...facts, id: `scenario/s/${timeline}#1`, ref: { timeline }, caused_by: 'test' }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A sandbox without a scenarios adapter that has a call of each step left, and a separate caller for it. */
async function callerEmulator(...steps: NonNullable<TestScenario['timeline']>) {
  const defects: unknown[] = []
  const state = await builtState(libraryEmulator, startAt(START), libraryService)
  const onDefect = (error: unknown) => void defects.push(error)
  const sandbox = new Sandbox({ ...sandboxDefaults, service: libraryService, onDefect }, state)
  const said: string[] = []
  const source = new MemoryScenarios({ s: { timeline: steps } })
  const caller = new FunctionCaller({ sandbox, source, onLog: (text) => said.push(text) })
  onTestFinished(() => caller.stop())
  const empty = sandbox.capture()
  change(sandbox, ({ tx }) => {
    for (const n of steps.keys()) tx.in(scenarioCalls).put(callOf(n))
  })
  const hasPut = () => sandbox.store.rows('shelves').has('s9')
  return { sandbox, defects, caller, said, hasPut, empty }
}

const step = (...commands: ScenarioCommand[]) => ({ at: '0s', do: () => commands })

/** A step whose function returns when the test calls `go`. */
function hanging() {
  const gos: (() => void)[] = []
  const hang = async () => {
    await new Promise<void>((resolve) => gos.push(resolve))
    return [put]
  }
  return { gos, hangs: { at: '0s', do: hang } }
}

test('calls are performed one at a time, in the order in which they were left', async () => {
  const order: string[] = []
  const slow = async () => {
    order.push('first begins')
    await turn()
    order.push('first ends')
    return []
  }
  const quick = () => {
    order.push('second')
    return []
  }
  const { caller } = await callerEmulator({ at: '0s', do: slow }, { at: '0s', do: quick })
  caller.start()
  await caller.whenIdle()
  expect(order).toEqual(['first begins', 'first ends', 'second'])
})

test('the sandbox keeps the beginning of the message of a failed call', async () => {
  const { caller, sandbox } = await callerEmulator(step({ ...put, collection: 'x'.repeat(100_000) }))
  caller.start()
  await caller.whenIdle()
  expect(sandbox.document().failed[0]).toHaveProperty('error.length', 5_000)
})

test.for(['the next commit', 'the next wait'])('on a full disk a call waits for %s', async (chance) => {
  const log = { kind: 'log', text: 'put' } as const
  const { caller, hasPut, sandbox, said, defects } = await callerEmulator(step(put, log))
  const { journal } = sandbox.store
  sandbox.store.journal = fullDisk
  caller.start()
  await expect(caller.whenIdle()).rejects.toThrow('The disk is full.')
  expect([hasPut(), said, defects.length]).toEqual([false, [], 1])
  sandbox.store.journal = journal
  if (chance === 'the next wait') await caller.whenIdle()
  else {
    change(sandbox, ({ tx }) => tx.put('shelves', { ...shelf, id: 's8' }))
    await turn()
  }
  expect([hasPut(), said]).toEqual([true, ['put']])
})

test('a stopped caller performs no calls, changes nothing, and is idle', async () => {
  const { gos, hangs } = hanging()
  const { caller, hasPut, sandbox } = await callerEmulator(hangs)
  caller.start()
  const settled = caller.whenIdle()
  await turn()
  caller.stop()
  await settled
  gos[0]?.()
  await turn()
  expect([hasPut(), caller.isIdle]).toEqual([false, true])
  expect(sandbox.store.rows(scenarioCalls.name).size).toBe(1)
})

test('replacing the state during a call discards its result, and calls of the new state are performed', async () => {
  const { gos, hangs } = hanging()
  const { caller, hasPut, sandbox, empty } = await callerEmulator(hangs)
  const during = sandbox.capture()
  caller.start()
  await turn()
  sandbox.replaceWith(empty)
  gos[0]?.()
  await caller.whenIdle()
  expect([hasPut(), gos.length]).toEqual([false, 1])
  sandbox.replaceWith(during)
  await turn()
  gos[1]?.()
  await caller.whenIdle()
  expect(hasPut()).toBe(true)
})

test('a defect of the emulator is reported as one, and the call is not repeated', async () => {
  const { caller, hasPut, sandbox, defects } = await callerEmulator(step(put))
  const { journal } = sandbox.store
  sandbox.store.journal = journalOf(() => {
    sandbox.store.journal = journal
    throw new TypeError('at a secret place')
  })
  caller.start()
  await caller.whenIdle()
  expect([defects, hasPut()]).toEqual([[new TypeError('at a secret place')], false])
  const { failed, scenario_calls } = sandbox.document()
  expect(scenario_calls).toEqual([])
  expect(failed).toMatchObject([{ error: expect.stringContaining('its log has the cause') }])
})
