import { expect, test } from 'vitest'
import type { RanEvent } from '../core/time/scheduler.ts'
import { summaryOfEvents } from './advance-summary.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString()

function event(minute: number, kind: string, ref: string, more: Partial<RanEvent> = {}): RanEvent {
  return { at: at(minute), kind, ref, description: `${kind} of ${ref}.`, caused_by: 'edit', ...more }
}

function runOf(automation: string, minute: number): RanEvent[] {
  const ref = `automations/${automation}`
  return [
    event(minute, 'automation.fire', ref),
    event(minute, 'agent-run.execute', `agent_runs/${minute}`, { caused_by: `automation.fire:${ref}` }),
  ]
}

const texts = (events: readonly RanEvent[]) => summaryOfEvents(events).groups.map(({ text }) => text)

test('batches and their webhooks come before repeated runs of automations, which are one group', () => {
  const runs = [0, 30, 31, 32].flatMap((minute) => runOf(minute === 30 ? 'b' : 'a', minute))
  const own = [event(10, 'batch.start', 'batch_predictions/1'), event(11, 'webhook.failed', 'deliveries/1')]
  const events = [...runs.slice(0, 2), ...own, ...runs.slice(2)]
  expect(summaryOfEvents(events)).toEqual({
    listed: own,
    groups: [{ from: at(0), to: at(32), count: 8, text: '4 runs of 2 automations' }],
  })
})

test('up to four events of automations are listed one by one, after those of batches', () => {
  const [runs, own] = [[...runOf('a', 1), ...runOf('b', 2)], [event(3, 'batch.start', 'batch_predictions/1')]]
  expect(summaryOfEvents([...runs, ...own])).toEqual({ listed: [...own, ...runs], groups: [] })
})

test('more than twenty events of batches are grouped by kind and by change of status', () => {
  const move = { from: 'validating', to: 'in_progress' }
  const starts = Array.from({ length: 15 }, (_, n) => event(n, 'batch.start', `batch_predictions/${n}`, move))
  const others = Array.from({ length: 6 }, (_, n) => event(20 + n, 'webhook.failed', `deliveries/${n}`))
  expect(summaryOfEvents([...starts, ...others])).toEqual({
    listed: [],
    groups: [
      { from: at(0), to: at(14), count: 15, text: '15 of batch.start (validating to in_progress)' },
      { from: at(20), to: at(25), count: 6, text: '6 of webhook.failed' },
    ],
  })
  expect(summaryOfEvents(starts).listed).toEqual(starts)
})

test('among many, an event that is alone of its kind is still listed', () => {
  const many = Array.from({ length: 30 }, (_, n) => event(n, 'batch.start', `batch_predictions/${n}`))
  const cleanup = event(40, 'batch.cleanup', 'batch_predictions/1')
  expect(summaryOfEvents([...many, cleanup])).toMatchObject({ listed: [cleanup], groups: [{ count: 30 }] })
})

test('a run whose start is not among the events counts once, and a run of a trigger is no run of an automation', () => {
  const later = runOf('a', 5).slice(1)
  const ofTriggers = [6, 7].map((minute) =>
    event(minute, 'agent-run.execute', `agent_runs/${minute}`, { caused_by: 'default-000001' }),
  )
  const both = '2 runs of 1 automation, 2 runs of event triggers'
  expect(texts([...later, ...runOf('a', 8), ...ofTriggers])).toEqual([both])
  expect(texts([...ofTriggers, ...ofTriggers, ...ofTriggers])).toEqual(['6 runs of event triggers'])
})
