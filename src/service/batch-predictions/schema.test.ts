import { expect, test } from 'vitest'
import { Settings } from '../../core/assumptions.ts'
import { logged } from '../../core/state/commit.ts'
import { zodIssues } from '../../core/zod-issues.ts'
import { batches } from './batches.ts'
import { batchStatuses } from './states.ts'

const settings = new Settings()
const CREATED = '2026-03-01T12:00:00.000Z'
const LATER = '2026-03-01T13:00:00.000Z'

interface Changes {
  readonly [member: string]: unknown
  readonly request?: object
  readonly facts?: object
}

const items = (n: number) =>
  Array.from({ length: n }, (_, index) => ({ custom_id: `${index}`, file_id: 'f' }))

function fixture({ request, facts, ...changes }: Changes = {}) {
  return {
    ...{ id: 'batch-1', status: 'validating', model: 'm', created_at: CREATED },
    ...changes,
    _emulator: {
      ...{ teamspace_id: 'ts-a', organization_id: 'org-1' },
      request: { prompt: 'p', output_schema: { type: 'object' }, items: items(1), ...request },
      ...facts,
    },
  }
}

function pointersOf(raw: unknown): string[] {
  const result = batches.schema(settings).safeParse(raw)
  return result.success ? [] : zodIssues(result.error, '').map(({ pointer }) => pointer)
}

const STAMPS: Readonly<Record<string, readonly string[]>> = {
  validating: [],
  in_progress: ['in_progress_at'],
  finalizing: ['in_progress_at', 'finalizing_at'],
  completed: ['in_progress_at', 'finalizing_at', 'completed_at'],
  failed: ['failed_at'],
  expired: ['expired_at'],
  cancelling: ['cancelling_at'],
  cancelled: ['cancelling_at', 'cancelled_at'],
}

test.for(batchStatuses)('a fixture needs only the timestamps for a %s batch', (status) => {
  const stamps = Object.fromEntries((STAMPS[status] ?? []).map((stamp) => [stamp, LATER]))
  const batch = batches.schema(settings).parse(fixture({ status, ...stamps }))
  const ended = ['failed', 'expired', 'cancelled'].includes(status)
  const over = ended || status === 'completed'
  expect(batch).toMatchObject({
    object: 'batch_prediction',
    completion_window: '24h',
    expires_at: '2026-03-02T12:00:00.000Z',
    metadata: {},
    error: ended ? {} : null,
    results_url: over ? '/v1/batch-predictions/batch-1/results' : null,
  })
  expect(batch._emulator.request.effective_model).toBe('m')
  expect(batch._emulator.ended === null).toBe(!ended)
  expect(batches.schema(settings).parse(JSON.parse(JSON.stringify(batch)))).toEqual(batch)
  for (const missing of STAMPS[status] ?? []) {
    expect(pointersOf(fixture({ status, ...stamps, [missing]: null }))).toContain(`/${missing}`)
  }
})

const LATE = [{ from: 1, outcomes: [] }]
const LOOP = { type: 'object', $ref: '#' }

test.for<[string, Changes, string]>([
  ['a state that does not exist', { status: 'canceled' }, '/status'],
  ['a window that is not 24 h', { expires_at: LATER }, '/expires_at'],
  ['a timestamp of a state that it has not reached', { completed_at: LATER }, '/completed_at'],
  ['an error while validating', { error: {} }, '/error'],
  ['results while validating', { results_url: '/x' }, '/results_url'],
  ['an end while validating', { facts: { ended: { rest: 'expired', cause: '' } } }, '/_emulator/ended'],
  ['counts, which follow from the rest', { request_counts: {} }, '/request_counts'],
  ['more finished items than there are', { facts: { progress: { done: 2 } } }, '/_emulator/progress/done'],
  ['stages that do not begin at 0', { facts: { plan: { stages: LATE } } }, '/_emulator/plan/stages'],
  ['a pace that does not exist', { facts: { plan: { pace: 'fast' } } }, '/_emulator/plan/pace'],
  ['no items', { request: { items: [] } }, '/_emulator/request/items'],
  ['a reference', { request: { output_schema: LOOP } }, '/_emulator/request/output_schema/$ref'],
  ['no request', { facts: { request: undefined } }, '/_emulator/request'],
])('a fixture batch with %s is refused', { tags: ['R274', 'R284'] }, ([, changes, pointer]) => {
  expect(pointersOf(fixture(changes))).toEqual([pointer])
})

test('a value that is not an object is refused with its place', () => {
  expect(pointersOf(null)).toEqual([''])
  expect(pointersOf(fixture({ facts: { progress: 7 } }))).toEqual(['/_emulator/progress'])
  expect(pointersOf({ ...fixture(), _emulator: 'x' })).toContain('/_emulator')
})

test('a change of state writes only the changed fields to the log, never the items', () => {
  const before = batches.schema(settings).parse(fixture({ request: { items: items(5_000) } }))
  const after = {
    ...before,
    status: 'in_progress' as const,
    in_progress_at: LATER,
    _emulator: { ...before._emulator, progress: { ...before._emulator.progress, since: LATER } },
  }
  const change = { table: batches.name, id: before.id, before, after }
  const { changes } = logged({ revision: 1, at: LATER, changes: [change] })
  expect(JSON.stringify(changes).length).toBeLessThan(300)
})
