import { expect, test } from 'vitest'
import { scenarioCalls } from '../scenarios/row.ts'
import type { Row } from '../state/commit.ts'
import { Store } from '../state/store.ts'
import { Clock, clockRow } from '../time/clock.ts'
import { formatInstant } from '../time/instant.ts'
import { SCHEDULE, Scheduler } from '../time/scheduler.ts'
import { deliveries } from '../webhooks/records.ts'
import { wakesAt } from './sandbox.ts'

const HOST = Date.parse('2026-03-01T12:00:00Z')
const HOUR = 3_600_000

/** A sandbox whose clock starts at the host's instant, with one event due after an hour, and the given records. */
function emulator(rate: number, others: Readonly<Record<string, readonly object[]>> = {}) {
  const store = new Store()
  store.load(SCHEDULE, [{ id: 'e', due_at: formatInstant(HOST + HOUR), seq: 1 } as Row])
  for (const [table, rows] of Object.entries(others)) store.load(table, rows as readonly Row[])
  const row = clockRow({ now: HOST, rate, skip_on_poll: false }, () => HOST)
  return { store, scheduler: new Scheduler(store), clock: new Clock(() => HOST, row) }
}

const delivery = (status: string) => ({ [deliveries.name]: [{ id: 'd', status }] })

test.for<[what: string, rate: number, others: Parameters<typeof emulator>[1], instant: string | null]>([
  ['an event', 1, {}, '2026-03-01T13:00:00.000Z'],
  ['an event on a fast clock', 60, {}, '2026-03-01T12:01:00.000Z'],
  ['an event after the last instant of the host clock', 1e-12, {}, '9998-12-31T23:59:59.999Z'],
  ['an event on a stopped clock', 0, {}, null],
  ['no event', 1, { [SCHEDULE]: [] }, null],
  ['a pending webhook on a stopped clock', 0, delivery('pending'), formatInstant(HOST)],
  ['a webhook that is being sent', 0, delivery('sending'), formatInstant(HOST)],
  ['a delivered webhook', 0, delivery('delivered'), null],
  ['a pending call', 0, { [scenarioCalls.name]: [{ id: 'c' }] }, formatInstant(HOST)],
])('%s wakes a sandbox with the rate %d', ([, rate, others, instant]) => {
  expect(wakesAt(emulator(rate, others))).toBe(instant)
})
