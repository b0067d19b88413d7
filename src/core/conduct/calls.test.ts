import { expect, test } from 'vitest'
import { aConnection, judging, type Step } from '../../../test/support/observed-log.ts'

const { reportOn } = judging('request.unread-field', 'retry.missing', 'wait.none', 'wait.too-short')

const callsIn = (steps: Step[]) => reportOn(steps).judged.calls

const create: Step = { body: { name: 'a' } }
const failed: Step = { ...create, status: 503 }
const id = { 'x-request-id': 'r' }
const sentBefore: Step = { ...create, connection: aConnection({ opened: 0 }), requestsBefore: 0 }
const sentAfter: Step = { ...create, connection: aConnection({ opened: 5 }) }

test.for<[what: string, calls: number, steps: Step[]]>([
  ['a repetition after a refusal', 1, [failed, create]],
  ['a repetition of a request that was cut', 1, [{ ...create, status: 0 }, create]],
  ['two equal requests after a success', 2, [create, create]],
  ['a request that was cut before its caller was known', 1, [{ ...create, status: 0, caller: '' }, create]],
  ['the same key after a success: a replay', 2, Array<Step>(2).fill({ ...create, key: 'k' })],
  ['the same request id', 1, [{ ...failed, headers: id }, { headers: id }]],
  ['a request that came before the first one had ended', 2, [{ ...failed, took: 50 }, create]],
  ['a repetition on the same connection at once', 1, [failed, { ...create, at: 0, real: 1 }]],
  ['a request on a connection that was open before the refusal', 2, [failed, sentBefore]],
  ['the same after two seconds of the clock', 1, [failed, { ...sentBefore, at: 2000, real: 12 }]],
  ['a repetition on a connection that was opened after the refusal', 1, [failed, sentAfter]],
  ['a repetition after a quarter of an hour', 2, [failed, { ...create, real: 16 * 60_000 }]],
])('%s: %i calls', ([, calls, steps]) => {
  expect(callsIn(steps)).toBe(calls)
})

test('two tabs that poll and are refused are not found', () => {
  const list = { operation: 'agents.list' }
  const refused = { ...list, status: 429, retryAfter: '60' }
  const at = (step: Step, ...instants: number[]) => instants.map((each) => ({ ...step, at: each }))
  const tabs = [...at(list, 0, 1_000, 5_000, 6_000), ...at(refused, 10_000, 11_000)]
  expect(reportOn(tabs).data.map(({ severity }) => severity)).toEqual(['note'])
})

test('two requests that were sent together, on connections that were used before, are two calls', () => {
  const callsWith = (at: number, real: number) =>
    callsIn([
      { ...failed, at: 0, real: 0 },
      { ...create, at, real, connection: aConnection() },
    ])
  // In the last case the clock was advanced after the refusal.
  expect([callsWith(0, 1.2), callsWith(0, 3), callsWith(2_000, 1.2)]).toEqual([2, 1, 1])
})

test('a report is the same for the same log, sorted by severity and then by the first request', () => {
  const steps: Step[] = [
    { operation: 'agents.list', status: 503 },
    { body: { name: 'a', naem: 1 } },
    { status: 429, key: 'k', retryAfter: '2' },
    { key: 'k' },
  ]
  const report = reportOn(steps)
  expect(report.data.map(({ severity }) => severity)).toEqual(['error', 'warning', 'note'])
  expect(JSON.stringify(reportOn(steps))).toBe(JSON.stringify(report))
})

test('a log that has dropped requests says so', () => {
  expect(reportOn([], {}, { dropped: 3 })).toMatchObject({
    judged: { calls: 0, requests: 0, dropped: 3 },
    not_judged: [expect.stringContaining('dropped 3 requests')],
  })
})
