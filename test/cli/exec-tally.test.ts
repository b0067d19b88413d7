import { expect, test } from 'vitest'
import { Tally } from '../../src/adapters/cli/exec-summary.ts'
import { Decision } from '../../src/core/faults/decision.ts'
import type { FaultRule } from '../../src/core/faults/rule.ts'
import type { LogEntry } from '../../src/core/log/request-log.ts'
import { running } from './running.ts'

/** A sandbox with one request, its log entry, and the same entry as an internal error. */
async function used() {
  const { emulator, run } = await running()
  await fetch(`${emulator.baseUrl}/data-views`)
  const { sandbox } = emulator
  const [entry] = sandbox.log.entries() as [LogEntry]
  const error = { ...entry.error, code: 'internal_error', detail: 'boom' } as LogEntry['error']
  return { emulator, run, sandbox, entry, defect: { ...entry, status: 500, error } }
}

test('an internal server error is unexpected; only the first ten are listed', async () => {
  const { sandbox, defect } = await used()
  const tally = new Tally()
  tally.watch(sandbox)
  for (let n = 0; n < 12; n++) sandbox.log.add({ ...defect, id: `default-${n}` })
  const { total, data } = tally.unexpected
  expect([total, data.length]).toEqual([12, 10])
  expect(data[0]).toEqual({
    id: 'default-0',
    method: 'GET',
    path: '/v1/data-views',
    status: 500,
    detail: 'boom',
  })
})

test('a 501 of an endpoint without a contract and a response of a stub are not unexpected', async () => {
  const { sandbox, defect, emulator } = await used()
  const [operation] = emulator.sandbox.service.operations.values()
  const tally = new Tally()
  tally.watch(sandbox)
  const error = { ...defect.error, code: 'emulator_contract_unspecified' } as LogEntry['error']
  sandbox.log.add({ ...defect, status: 501, error })
  if (operation !== undefined) sandbox.log.add({ ...defect, stubbed: operation })
  expect(tally.unexpected.total).toBe(0)
  expect(tally.operations).toEqual([{ operation: 'data-views.list', total: 2, outcomes: { '5xx': 2 } }])
})

test('statuses outside 1xx to 5xx count as other, requests without a status as cut', async () => {
  const { sandbox, entry } = await used()
  const tally = new Tally()
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
  const { sandbox, run, emulator } = await used()
  await run('faults', 'add', 'server-error')
  await fetch(`${emulator.baseUrl}/data-views`)
  const tally = new Tally()
  tally.watch(sandbox)
  expect(tally.operations).toEqual([])
  await emulator.close()
  expect(tally.faults).toEqual([{ id: 'server-error', armed: 1, fired: 0, never_fired: 1 }])
})

test('a rule that is removed and armed again counts as two', async () => {
  const { sandbox, run, emulator } = await used()
  const tally = new Tally()
  tally.watch(sandbox)
  await run('faults', 'add', 'server-error')
  await fetch(`${emulator.baseUrl}/data-views`)
  await run('faults', 'clear')
  await run('faults', 'add', 'server-error')
  await run('faults', 'add', 'webhook-duplicate')
  await run('faults', 'clear', 'webhook-duplicate')
  await emulator.close()
  expect(tally.faults).toEqual(
    [
      { id: 'webhook-duplicate', armed: 1, fired: 0, never_fired: 1 },
      { id: 'server-error', armed: 2, fired: 1, never_fired: 1 },
    ].reverse(),
  )
})

test('a spent rule that is armed again counts as two, and the second may never fire', async () => {
  const { sandbox, run, emulator } = await used()
  const tally = new Tally()
  tally.watch(sandbox)
  await run('faults', 'add', 'fin-before-headers')
  await fetch(`${emulator.baseUrl}/data-views`).catch(() => undefined)
  await run('faults', 'add', 'fin-before-headers')
  await emulator.close()
  expect(tally.faults).toEqual([{ id: 'fin-before-headers', armed: 2, fired: 1, never_fired: 1 }])
})

test('a fault from magic values in a request is not an armed rule, and counts', async () => {
  const { sandbox, entry } = await used()
  const tally = new Tally()
  tally.watch(sandbox)
  const rule = { id: 'magic:fail', source: 'magic' } as FaultRule
  const faults = new Decision([{ rule, actions: [], step: undefined, n: 1, key: null }], [], new Map())
  sandbox.log.add({ ...entry, faults })
  sandbox.log.add({ ...entry, faults })
  expect(tally.faults).toEqual([{ id: 'magic:fail', armed: 2, fired: 2, never_fired: 0 }])
})

test('each new sandbox is reported once, before its first request', async () => {
  const { emulator, url } = await running()
  const told: (readonly [name: string, requests: number])[] = []
  const stop = emulator.sandboxes.onMade(({ name, log }) => told.push([name, log.requests]))
  for (const name of ['w1', 'w1', 'w2']) await fetch(`${url}/@${name}/v1/data-views`)
  stop()
  await fetch(`${url}/@w3/v1/data-views`)
  expect(told).toEqual([
    ['w1', 0],
    ['w2', 0],
  ])
})
