import { expect, test } from 'vitest'
import { Decision } from '../../src/core/faults/decision.ts'
import type { FaultRule } from '../../src/core/faults/rule.ts'
import type { LogEntry } from '../../src/core/log/request-log.ts'
import { Tally } from '../../src/terminal/tally.ts'
import { running } from './running.ts'

async function used() {
  const { emulator, run } = await running()
  await fetch(`${emulator.baseUrl}/data-views`)
  const { sandbox } = emulator
  const [entry] = sandbox.log.entries() as [LogEntry]
  const tally = new Tally()
  return { emulator, run, sandbox, entry, tally }
}

test('statuses outside 1xx to 5xx count as other, requests without a status as cut', async () => {
  const { sandbox, entry, tally } = await used()
  tally.watch(sandbox)
  for (const status of [0, 200, 204, 103, 304, 418, 599, 600, 999]) sandbox.log.add({ ...entry, status })
  expect(tally.operations).toEqual([
    {
      operation: 'data-views.list',
      total: 9,
      outcomes: { '1xx': 1, '2xx': 2, '3xx': 1, '4xx': 1, '5xx': 1, other: 2, cut: 1 },
    },
  ])
})

test('requests before the start are not counted, rules armed before are', async () => {
  const { sandbox, run, tally } = await used()
  await run('faults', 'add', 'server-error')
  tally.watch(sandbox)
  expect([tally.operations, tally.faults]).toEqual([[], [{ id: 'server-error', fired: 0 }]])
})

test('a rule that is removed and armed again, or spent and armed again, keeps its count', async () => {
  const { sandbox, run, emulator, tally } = await used()
  tally.watch(sandbox)
  const call = () => fetch(`${emulator.baseUrl}/data-views`).catch(() => undefined)
  await run('faults', 'add', 'server-error')
  await call()
  await run('faults', 'clear')
  for (let n = 0; n < 2; n++) {
    await run('faults', 'add', 'fin-before-headers')
    await call()
  }
  await run('faults', 'add', 'server-error')
  await run('faults', 'add', 'webhook-duplicate')
  await call()
  expect(tally.faults).toEqual([
    { id: 'server-error', fired: 2 },
    { id: 'fin-before-headers', fired: 2 },
    { id: 'webhook-duplicate', fired: 0 },
  ])
})

test('a fault from magic values in a request counts', async () => {
  const { sandbox, entry, tally } = await used()
  tally.watch(sandbox)
  const rule = { id: 'magic:fail', source: 'magic' } as FaultRule
  const fired = { rule, actions: [], step: undefined, n: 1, key: null }
  const faults = new Decision([{ rule, description: '', fired }], new Map())
  sandbox.log.add({ ...entry, faults })
  sandbox.log.add({ ...entry, faults })
  expect(tally.faults).toEqual([{ id: 'magic:fail', fired: 2 }])
})
