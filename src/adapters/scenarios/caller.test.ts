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
import { FAILED_EVENTS } from '../../core/state/state.ts'
import { FunctionCaller } from './caller.ts'

const shelf = { id: 's9', name: 'New', note: null, created_at: '2026-01-01T00:00:00.000Z' }
const put: ScenarioCommand = { kind: 'put', collection: 'shelves', record: shelf }

function callOf(timeline: number): ScenarioCall {
  const facts = { scenario: 's', at: '2026-03-01T12:00:00.000Z', event: null, depth: 0 }
  return { ...facts, id: `scenario/s/${timeline}#1`, ref: { timeline }, caused_by: 'test' }
}

/** A sandbox without a scenarios adapter, and a separate caller for it. */
async function callerEmulator(timeline: TestScenario['timeline'], calls = timeline?.length ?? 0) {
  const defects: unknown[] = []
  const state = await builtState(libraryEmulator, startAt(START), libraryService)
  const onDefect = (error: unknown) => void defects.push(error)
  const sandbox = new Sandbox({ ...sandboxDefaults, service: libraryService, onDefect }, state)
  const said: string[] = []
  const caller = new FunctionCaller({
    sandbox,
    source: new MemoryScenarios({ s: { timeline: timeline ?? [] } }),
    onLog: (text) => said.push(text),
  })
  onTestFinished(() => caller.stop())
  const leave = () =>
    change(sandbox, ({ tx }) => {
      for (let n = 0; n < calls; n++) tx.in(scenarioCalls).put(callOf(n))
    })
  const ids = () => [...sandbox.store.rows('shelves').keys()]
  return { sandbox, defects, caller, said, leave, ids }
}

const step = (...commands: ScenarioCommand[]) => ({ at: '0s', do: () => commands })

test('calls from before the start of the caller are performed, and later ones too', async () => {
  const { caller, leave, ids, sandbox } = await callerEmulator([step(put)])
  leave()
  expect(caller.isIdle).toBe(true)
  caller.start()
  expect(caller.isIdle).toBe(false)
  await caller.whenIdle()
  expect(ids()).toContain('s9')
  change(sandbox, ({ tx }) => tx.delete('shelves', 's9'))
  leave()
  await caller.whenIdle()
  expect(ids()).toContain('s9')
  expect(sandbox.store.rows(scenarioCalls.name).size).toBe(0)
})

test('calls are performed one at a time, in the order in which they were left', async () => {
  const order: string[] = []
  const slow = async () => {
    order.push('first begins')
    await new Promise<void>((resolve) => setImmediate(resolve))
    order.push('first ends')
    return []
  }
  const quick = () => {
    order.push('second')
    return []
  }
  const { caller, leave } = await callerEmulator([
    { at: '0s', do: slow },
    { at: '0s', do: quick },
  ])
  leave()
  caller.start()
  await caller.whenIdle()
  expect(order).toEqual(['first begins', 'first ends', 'second'])
})

test('the sandbox keeps the beginning of the message of a failed call', async () => {
  const { caller, leave, sandbox } = await callerEmulator([step({ ...put, collection: 'x'.repeat(100_000) })])
  leave()
  caller.start()
  await caller.whenIdle()
  const [failed] = sandbox.store.rows(FAILED_EVENTS).values()
  expect((failed as unknown as { error: string }).error).toHaveLength(5_000)
})

test.for(['the next commit', 'the next wait'])(
  'a sandbox that cannot be written keeps the call, and it is repeated at %s',
  async (chance) => {
    const { caller, leave, ids, sandbox, said, defects } = await callerEmulator([
      step(put, { kind: 'log', text: 'put' }),
    ])
    leave()
    const { journal } = sandbox.store
    sandbox.store.journal = fullDisk
    caller.start()
    await expect(caller.whenIdle()).rejects.toThrow('The disk is full.')
    expect([ids().includes('s9'), said, defects.length]).toEqual([false, [], 1])
    sandbox.store.journal = journal
    if (chance === 'the next wait') await caller.whenIdle()
    else {
      change(sandbox, ({ tx }) => tx.put('shelves', { ...shelf, id: 's8' }))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect([ids().includes('s9'), said]).toEqual([true, ['put']])
  },
)

test('a stopped caller performs no calls, changes nothing, and is idle', async () => {
  let go: () => void = () => {}
  const hanging = async () => {
    await new Promise<void>((resolve) => {
      go = resolve
    })
    return [put]
  }
  const { caller, leave, ids, sandbox } = await callerEmulator([{ at: '0s', do: hanging }])
  leave()
  caller.start()
  const settled = caller.whenIdle()
  await new Promise<void>((resolve) => setImmediate(resolve))
  caller.stop()
  await settled
  go()
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect([ids().includes('s9'), caller.isIdle]).toEqual([false, true])
  expect(sandbox.store.rows(scenarioCalls.name).size).toBe(1)
})

test('replacing the state during a call discards its result, and calls of the new state are performed', async () => {
  const gos: (() => void)[] = []
  const hanging = async () => {
    await new Promise<void>((resolve) => gos.push(resolve))
    return [put]
  }
  const { caller, leave, ids, sandbox } = await callerEmulator([{ at: '0s', do: hanging }])
  const before = sandbox.capture()
  leave()
  const during = sandbox.capture()
  caller.start()
  await new Promise<void>((resolve) => setImmediate(resolve))
  sandbox.replaceWith(before)
  gos[0]?.()
  await caller.whenIdle()
  expect([ids().includes('s9'), gos.length]).toEqual([false, 1])
  sandbox.replaceWith(during)
  await new Promise<void>((resolve) => setImmediate(resolve))
  gos[1]?.()
  await caller.whenIdle()
  expect(ids()).toContain('s9')
})

test('a defect of the emulator is reported as one, and the call is not repeated', async () => {
  const { caller, leave, ids, sandbox, defects } = await callerEmulator([step(put)])
  leave()
  const { journal } = sandbox.store
  sandbox.store.journal = journalOf(() => {
    sandbox.store.journal = journal
    throw new TypeError('at a secret place')
  })
  caller.start()
  await caller.whenIdle()
  expect(defects).toEqual([new TypeError('at a secret place')])
  expect(ids()).not.toContain('s9')
  const { failed, scenario_calls } = sandbox.document()
  expect([scenario_calls, failed]).toEqual([
    [],
    [expect.objectContaining({ error: expect.stringContaining('its log has the cause') })],
  ])
})
