import { expect, test } from 'vitest'
import { concerns, obstacle } from './provider-events.ts'

const trigger = {
  enabled: true,
  trigger_source: 'file_sharing' as const,
  trigger_event: 'File:created',
  run_conditions: 'only PDFs' as string | null,
  _emulator: { agent_id: 'a', condition_verdict: true, thread_id: null },
}
const refused = { ...trigger, _emulator: { ...trigger._emulator, condition_verdict: false } }

test.for<[title: string, of: typeof trigger, because: RegExp | undefined]>([
  ['that holds its conditions', trigger, undefined],
  ['without conditions, whatever the verdict', { ...refused, run_conditions: null }, undefined],
  ['whose conditions do not hold', refused, /run_conditions of the trigger do not hold/],
  ['whose conditions are empty and do not hold', { ...refused, run_conditions: '' }, /do not hold/],
  ['that is paused, first of all', { ...refused, enabled: false }, /paused/],
])('what stops a trigger %s', { tags: ['R068', 'R072', 'R237'] }, ([, of, because]) => {
  expect(obstacle(of)).toEqual(because === undefined ? undefined : expect.stringMatching(because))
})

const OTHER_EVENTS = ['file:created', 'File:created ', 'File:Created', 'File']

test.for(OTHER_EVENTS)('"%s" does not concern a trigger of File:created', { tags: ['R237'] }, (event) => {
  expect(concerns(trigger, { source: 'file_sharing', event })).toBe(false)
})
