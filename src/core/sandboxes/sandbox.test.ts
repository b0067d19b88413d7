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

test('a sandbox wakes at the instant on the host clock at which its next event is due', () => {
  expect(wakesAt(emulator(1))).toBe('2026-03-01T13:00:00.000Z')
  expect(wakesAt(emulator(60))).toBe('2026-03-01T12:01:00.000Z')
  // The clock is so slow that the instant on the host clock would be past the last one that there is.
  expect(wakesAt(emulator(1e-12))).toBe('9998-12-31T23:59:59.999Z')
})

test('a sandbox with a stopped clock, or without events, only waits for requests', () => {
  expect(wakesAt(emulator(0))).toBeNull()
  expect(wakesAt(emulator(1, { [SCHEDULE]: [] }))).toBeNull()
})

test('a pending webhook or call wakes a sandbox at once, also when its clock is stopped', () => {
  const delivery = (status: string) => ({ [deliveries.name]: [{ id: 'd', status }] })
  expect(wakesAt(emulator(0, delivery('pending')))).toBe(formatInstant(HOST))
  expect(wakesAt(emulator(0, delivery('sending')))).toBe(formatInstant(HOST))
  expect(wakesAt(emulator(0, delivery('delivered')))).toBeNull()
  expect(wakesAt(emulator(0, { [scenarioCalls.name]: [{ id: 'c' }] }))).toBe(formatInstant(HOST))
})
