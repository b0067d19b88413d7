import { expect, test } from 'vitest'
import { running, START } from '../../../test/support/running-batch.ts'
import { Settings } from '../../core/assumptions.ts'
import type { JsonObject } from '../../core/json.ts'
import { HandlerScope } from '../../core/request/exchange.ts'
import { COUNTERS, SANDBOX_TABLE } from '../../core/state/state.ts'
import { Store } from '../../core/state/store.ts'
import { SCHEDULE } from '../../core/time/scheduler.ts'
import { deliveries, webhooks } from '../../core/webhooks/records.ts'
import { batches } from './batches.ts'
import {
  cancel,
  cleanUp,
  complete,
  countPoll,
  expire,
  failBatch,
  finishBatch,
  startBatch,
  step,
  stop,
} from './lifecycle.ts'
import type { Batch } from './schema.ts'

/** A scope `ms` after {@link START}, in a sandbox that has only one file and one subscription to all events. */
function scopeAt(ms: number, settings: JsonObject = {}): HandlerScope {
  const store = new Store()
  const file = { id: 'f', teamspace_id: 'ts-a', readable: true, supported: true, pages: null, kind: 'pdf' }
  const webhook = { id: 'w', url: 'http://receiver.test/', events: null }
  store.load(SANDBOX_TABLE, [{ id: COUNTERS, ids: 0, uuids: 0, events: 0 } as { id: string }])
  store.load('files', [file])
  store.load(webhooks.name, [webhook])
  const surroundings = { seed: 1, name: 'default', settings: new Settings(settings) }
  return new HandlerScope(store.begin(), START + ms, surroundings, 'test')
}

const PER_SECOND = { pace: { validating: '2s', in_progress: { per_item: '1s' }, finalizing: '1s' } }

function validating(items: number, plan: object = {}): Batch {
  return { ...running(items, plan), status: 'validating', in_progress_at: null }
}

const noticesOf = (scope: HandlerScope) => scope.tx.in(deliveries).filter(() => true)
const aheadOf = (scope: HandlerScope) => [...scope.tx.rows(SCHEDULE)].map(({ id }) => id.split(':')[0]).sort()
const progressOf = (batch: Batch) => batch._emulator.progress

test('a batch starts if its items validate; otherwise it fails with an error that names them', {
  tags: ['R102', 'R106'],
}, () => {
  const scope = scopeAt(2_000)
  const started = startBatch(scope, validating(3))
  expect([started.status, started.in_progress_at]).toEqual(['in_progress', '2026-03-01T12:00:02.000Z'])
  expect(progressOf(started)).toEqual({ since: scope.at, done: 0, most: null, polls: 0, held: false })
  const wrong = { ...validating(1) }
  const items = [{ custom_id: 'a', file_id: 'nowhere' }]
  const lost: Batch = {
    ...wrong,
    _emulator: { ...wrong._emulator, request: { ...wrong._emulator.request, items } },
  }
  const failed = startBatch(scope, lost)
  expect(failed.status).toBe('failed')
  expect(failed._emulator.ended).toEqual({
    rest: 'errored',
    cause: '1 item is invalid: /items/0 (custom_id "a"): There is no file with the id "nowhere".',
  })
  expect(failed._emulator.plan.rejected).toHaveLength(1)
  const goesOn = startBatch(scopeAt(2_000, { 'batch.validation': 'item' }), lost)
  expect([goesOn.status, goesOn._emulator.plan.rejected.length]).toEqual(['in_progress', 1])
})

test('each state on the way to completion has its timestamps and its future events', () => {
  const scope = scopeAt(2_000)
  let batch = validating(3)
  const states = [1, 2, 3].map(() => {
    batch = step(scope, batch)
    return [batch.status, batch.results_url, aheadOf(scope), noticesOf(scope).length]
  })
  expect(states).toEqual([
    ['in_progress', null, ['batch.expire', 'batch.finalize'], 0],
    ['finalizing', null, ['batch.complete'], 0],
    ['completed', '/v1/batch-predictions/batch-1/results', ['batch.cleanup'], 1],
  ])
  expect([batch.error, batch._emulator.ended, batch._emulator.progress.done]).toEqual([null, null, 3])
})

test('the webhook of a terminal batch has its final state', { tags: ['R232', 'R234'] }, () => {
  const scope = scopeAt(2_000)
  const batch = complete(scope, finishBatch(scope, running(2)))
  const [notice] = noticesOf(scope)
  expect(notice).toMatchObject({ type: 'batch_prediction.completed', ref: 'batch_predictions/batch-1' })
  expect(notice?.body).toMatchObject({
    status: 'completed',
    results_url: batch.results_url,
    request_counts: { total: 2, processing: 0, succeeded: 2 },
  })
  expect(notice?.body).not.toHaveProperty('_emulator')
})

test.for([
  [0, 3, 'The batch was cancelled before 3 of 3 items were finished.'],
  [1_000, 3, 'The batch was cancelled before 2 of 3 items were finished.'],
  [0, 1, 'The batch was cancelled before 1 of 1 item was finished.'],
  [9_000, 3, 'The batch was cancelled.'],
] as const)(
  'cancelled %d ms on, a batch of %d says: %s',
  { tags: ['R104', 'R112'] },
  ([ms, items, cause]) => {
    const scope = scopeAt(ms)
    const cancelling = cancel(scope, running(items, PER_SECOND))
    expect([cancelling.status, cancelling.results_url, aheadOf(scope)]).toEqual([
      'cancelling',
      null,
      ['batch.cancelled'],
    ])
    const stopped = stop(scope, cancelling)
    expect(stopped._emulator.ended).toEqual({ rest: 'canceled', cause })
    expect(stopped.error).toMatchObject({ title: 'Batch Cancelled', status: 422, detail: cause })
    expect(noticesOf(scope).map(({ type }) => type)).toEqual(['batch_prediction.cancelled'])
  },
)

test('a cancel stops the work, unless items in flight may finish; a second one changes nothing', {
  tags: ['R104', 'R105'],
}, () => {
  const many = { pace: { ...PER_SECOND.pace, in_progress: { per_item: '1s', concurrency: 4 } } }
  const stopped = cancel(scopeAt(1_500), running(10, many))
  expect(stopped._emulator.progress).toMatchObject({ done: 4, most: 4 })
  const inFlight = { 'batch.cancel_in_flight': 'finish' }
  const finishing = cancel(scopeAt(1_500, inFlight), running(10, many))
  expect(finishing._emulator.progress).toMatchObject({
    done: 0,
    most: 8,
    since: running(1)._emulator.progress.since,
  })
  expect(cancel(scopeAt(1_500, inFlight), running(6, many))._emulator.progress.most).toBe(6)
  const scope = scopeAt(1_600)
  expect(cancel(scope, stopped)).toBe(stopped)
  expect(scope.tx.changes()).toEqual([])
  const early = cancel(scopeAt(500, inFlight), validating(10, many))
  expect(early._emulator.progress).toMatchObject({ done: 0, most: 0 })
})

test('finished items stay finished when the window ends, and the error counts the others', {
  tags: ['R107', 'R113'],
}, () => {
  const scope = scopeAt(2_000)
  const expired = expire(scope, running(5, PER_SECOND))
  expect([expired.status, expired._emulator.progress.done, expired._emulator.ended]).toEqual([
    'expired',
    2,
    { rest: 'expired', cause: 'The completion window ended before 3 of 5 items were finished.' },
  ])
  expect(expired.error).toMatchObject({ title: 'Batch Expired' })
  expect(() => cancel(scope, expired)).toThrow('expired')
})

test('a window that ends during validation expires the batch, or fails it, depending on the setting', {
  tags: ['T13'],
}, () => {
  expect(expire(scopeAt(0), validating(2)).status).toBe('expired')
  const own = { 'batch.expire_in_validating': 'fail' }
  const failed = expire(scopeAt(0, own), validating(2))
  expect([failed.status, failed.error?.detail]).toEqual([
    'failed',
    'The completion window ended before 2 of 2 items were finished.',
  ])
  expect(expire(scopeAt(0, own), running(2, PER_SECOND)).status).toBe('expired')
})

test('the error of a batch is a problem, an empty object by a setting, or a given object', {
  tags: ['U010'],
}, () => {
  const cause = 'No capacity.'
  const failed = failBatch(scopeAt(0), running(2, PER_SECOND), { cause })
  expect(failed.error).toMatchObject({ title: 'Batch Failed', status: 422, detail: cause })
  expect(failed._emulator.ended).toEqual({ rest: 'errored', cause })
  expect(failBatch(scopeAt(0, { 'batch.error': 'empty' }), running(2), { cause }).error).toEqual({})
  expect(failBatch(scopeAt(0), running(2), { cause, error: { own: true } }).error).toEqual({ own: true })
  const canceled = failBatch(scopeAt(0, { 'batch.failed_items': 'canceled' }), running(2), { cause })
  expect(canceled._emulator.ended?.rest).toBe('canceled')
})

test('results_url is relative to the root of the server, or to the base URL by a setting', {
  tags: ['T29'],
}, () => {
  const batch = finishBatch(scopeAt(0), running(1))
  const prefixed: Batch = { ...batch, _emulator: { ...batch._emulator, prefix: '/@w' } }
  expect(complete(scopeAt(0), prefixed).results_url).toBe('/@w/v1/batch-predictions/batch-1/results')
  const own = { 'batch.results_url': 'base_relative' }
  expect(complete(scopeAt(0, own), prefixed).results_url).toBe('/batch-predictions/batch-1/results')
})

test('a batch whose results are removed has no results_url and no future events', {
  tags: ['R282'],
}, () => {
  const scope = scopeAt(0)
  const done = complete(scope, finishBatch(scope, running(1)))
  const cleaned = cleanUp(scope, done)
  expect([cleaned, aheadOf(scope)]).toEqual([{ ...done, results_url: null }, []])
})

test('each poll counts at a pace of polls, and the last one moves the batch to the next phase', () => {
  const polls = { pace: { validating: { polls: 2 }, in_progress: { polls: 3 }, finalizing: { polls: 1 } } }
  const scope = scopeAt(0)
  scope.tx.in(batches).put(validating(3, polls))
  const seen: unknown[] = []
  for (let n = 0; n < 7; n++) {
    countPoll(scope, scope.tx.in(batches).require('batch-1'))
    const { status, _emulator } = scope.tx.in(batches).require('batch-1')
    seen.push([status, _emulator.progress.polls])
  }
  expect(seen).toEqual([
    ['validating', 1],
    ['in_progress', 0],
    ['in_progress', 1],
    ['in_progress', 2],
    ['finalizing', 0],
    ['completed', 0],
    ['completed', 0],
  ])
})

test('a poll of a held batch, or of one whose pace is a time, does not count', () => {
  const polls = { pace: { validating: '1s', in_progress: { polls: 1 }, finalizing: '1s' } }
  const scope = scopeAt(0)
  for (const batch of [
    running(2, polls, { held: true }),
    running(2),
    { ...running(2), status: 'cancelling' as const },
  ])
    countPoll(scope, batch)
  expect(scope.tx.changes()).toEqual([])
})

test('polls do not end the work on items that never finish', () => {
  const plan = {
    pace: { validating: '1s', in_progress: { polls: 1 }, finalizing: '1s' },
    late: { slow: [], never: [1] },
  }
  const scope = scopeAt(0)
  countPoll(scope, running(2, plan))
  expect(scope.tx.in(batches).require('batch-1')).toMatchObject({ status: 'in_progress' })
})
