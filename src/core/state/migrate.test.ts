import { expect, test } from 'vitest'
import type { LoggedCommit } from './commit.ts'
import { migrate, migrateCommit } from './migrate.ts'

const event = {
  id: 'event-1',
  kind: 'batch.completed',
  ref: 'batch_predictions/b',
  due_at: '2026-03-01T12:00:00.000Z',
}
const old = { ...event, says: 'The batch is completed.' }
const present = { ...event, description: 'The batch is completed.' }

test('a document of format 1 gets the field names of the current format for its events', () => {
  const document = { format: 1, revision: 7, schedule: [old], parked: [{ ...old, error: 'It failed.' }] }
  expect(migrate(document)).toEqual({
    format: 2,
    revision: 7,
    schedule: [present],
    failed: [{ ...present, error: 'It failed.' }],
  })
})

test('a document of the current format, and a value that is no document, do not change', () => {
  for (const each of [{ format: 2, schedule: [old] }, null, 'x', [1]]) expect(migrate(each)).toBe(each)
})

test('a migration keeps the invalid values of a document of format 1', () => {
  expect(migrate({ format: 1, schedule: 'none', parked: [3] })).toEqual({
    format: 2,
    schedule: 'none',
    failed: [3],
  })
})

test('a commit of a log of version 0.1.0 gets the current names of tables and fields', () => {
  const page = { id: 'p', says: 'a field of a page' }
  const commit = {
    revision: 3,
    at: '2026-03-01T12:00:00.000Z',
    changes: [
      ['put', '$schedule', old],
      ['delete', '$parked', 'event-1'],
      ['put', 'pages', page],
      ['patch', '$world', 'counters', { ids: 4 }],
    ],
    order: [['$parked', ['event-1']]],
    tables: [
      ['$parked', [old]],
      ['pages', [page]],
    ],
  } as unknown as LoggedCommit
  expect(migrateCommit(commit)).toEqual({
    revision: 3,
    at: '2026-03-01T12:00:00.000Z',
    changes: [
      ['put', '$schedule', present],
      ['delete', '$failed', 'event-1'],
      ['put', 'pages', page],
      ['patch', '$sandbox', 'counters', { ids: 4 }],
    ],
    order: [['$failed', ['event-1']]],
    tables: [
      ['$failed', [present]],
      ['pages', [page]],
    ],
  })
})

test('a call of a scenario of format 1 loses its batch, because its event names it', () => {
  const call = { id: 'call-1', scenario: 's', event: { ref: 'batch_predictions/b' } }
  const document = { format: 1, scenario_calls: [{ ...call, batch: 'b' }] }
  expect(migrate(document)).toEqual({ format: 2, scenario_calls: [call] })
  const commit = { changes: [['put', '$scenario_calls', { ...call, batch: 'b' }]] } as unknown as LoggedCommit
  expect(migrateCommit(commit)).toEqual({ changes: [['put', '$scenario_calls', call]] })
})
