import { expect, test } from 'vitest'
import { running, START } from '../../../test/support/running-batch.ts'
import { Settings } from '../../core/assumptions.ts'
import { HandlerScope } from '../../core/request/exchange.ts'
import { COUNTERS, SANDBOX_TABLE } from '../../core/state/state.ts'
import { Store } from '../../core/state/store.ts'
import { SCHEDULE } from '../../core/time/scheduler.ts'
import { deliveries, webhooks } from '../../core/webhooks/records.ts'
import { cancel, countPoll, stop } from './lifecycle.ts'

/** A scope `ms` after {@link START}, in a sandbox that has only a subscription to all events. */
function scopeAt(ms: number): HandlerScope {
  const store = new Store()
  const webhook = { id: 'w', url: 'http://receiver.test/', events: null }
  store.load(SANDBOX_TABLE, [{ id: COUNTERS, ids: 0, uuids: 0, events: 0 } as { id: string }])
  store.load(webhooks.name, [webhook])
  const surroundings = { seed: 1, name: 'default', settings: new Settings() }
  return new HandlerScope(store.begin(), START + ms, surroundings, 'test')
}

const PER_SECOND = { pace: { validating: '2s', in_progress: { per_item: '1s' }, finalizing: '1s' } }

const noticesOf = (scope: HandlerScope) => scope.tx.in(deliveries).filter(() => true)
const aheadOf = (scope: HandlerScope) => [...scope.tx.rows(SCHEDULE)].map(({ id }) => id.split(':')[0]).sort()

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
