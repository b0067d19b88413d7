import { expect, test } from 'vitest'
import { concerns, type Emission, obstacle } from './provider-events.ts'

const either = [true, false]
const combinations = (['file_sharing', 'construction_management'] as const).flatMap((source) =>
  ['File:created', 'File:deleted'].flatMap((event) =>
    either.flatMap((enabled) => either.map((verdict) => ({ source, event, enabled, verdict }))),
  ),
)

const aTrigger = ({ enabled = true, verdict = true, conditions = 'only PDFs' as string | null } = {}) => ({
  enabled,
  trigger_source: 'file_sharing' as const,
  trigger_event: 'File:created',
  run_conditions: conditions,
  _emulator: { agent_id: 'a', condition_verdict: verdict, thread_id: null },
})

const fires = (trigger: ReturnType<typeof aTrigger>, event: Pick<Emission, 'source' | 'event'>) =>
  concerns(trigger, event) && obstacle(trigger) === undefined

test('of the 16 combinations of source, event, enabled and verdict, exactly the one with all four fires', {
  tags: ['R237'],
}, () => {
  const fired = combinations.filter(({ source, event, enabled, verdict }) =>
    fires(aTrigger({ enabled, verdict }), { source, event }),
  )
  expect(combinations).toHaveLength(16)
  expect(fired).toEqual([
    { source: 'file_sharing' as const, event: 'File:created', enabled: true, verdict: true },
  ])
})

test('the verdict of a trigger without conditions is ignored', { tags: ['R072'] }, () => {
  const trigger = aTrigger({ conditions: null, verdict: false })
  expect(fires(trigger, { source: 'file_sharing' as const, event: 'File:created' })).toBe(true)
})

test('the verdict of a trigger with empty conditions counts', { tags: ['R072'] }, () => {
  const trigger = aTrigger({ conditions: '', verdict: false })
  expect(fires(trigger, { source: 'file_sharing' as const, event: 'File:created' })).toBe(false)
})

test('a paused trigger fires on nothing', { tags: ['R068'] }, () => {
  const trigger = aTrigger({ enabled: false, conditions: null })
  expect(fires(trigger, { source: 'file_sharing' as const, event: 'File:created' })).toBe(false)
})

test('event names are compared exactly', { tags: ['R237'] }, () => {
  for (const event of ['file:created', 'File:created ', 'File:Created', 'File']) {
    expect(fires(aTrigger(), { source: 'file_sharing', event })).toBe(false)
  }
})

test('a trigger that does not fire has a reason as a sentence, first of all its pause', {
  tags: ['R237'],
}, () => {
  expect(obstacle(aTrigger())).toBeUndefined()
  expect(obstacle(aTrigger({ verdict: false }))).toContain('run_conditions of the trigger do not hold')
  expect(obstacle(aTrigger({ enabled: false, verdict: false }))).toContain('paused')
})

test('an event concerns a trigger whether or not it fires', { tags: ['R237'] }, () => {
  const paused = aTrigger({ enabled: false, verdict: false })
  expect(concerns(paused, { source: 'file_sharing', event: 'File:created' })).toBe(true)
  expect(concerns(paused, { source: 'document_collaboration', event: 'File:created' })).toBe(false)
})
