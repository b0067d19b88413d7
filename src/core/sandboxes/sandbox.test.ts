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

/** A sandbox whose clock began at the host's instant, with one event due after an hour and what else is given. */
function emulator(rate: number, others: Readonly<Record<string, readonly object[]>> = {}) {
  const store = new Store()
  store.load(SCHEDULE, [{ id: 'e', due_at: formatInstant(HOST + HOUR), seq: 1 } as Row])
  for (const [table, rows] of Object.entries(others)) store.load(table, rows as readonly Row[])
  const row = clockRow({ now: HOST, rate, skip_on_poll: false }, () => HOST)
  return { store, scheduler: new Scheduler(store), clock: new Clock(() => HOST, row) }
}

test('a sandbox wakes when its next event is due by the clock of the host', () => {
  expect(wakesAt(emulator(1))).toBe('2026-03-01T13:00:00.000Z')
  expect(wakesAt(emulator(60))).toBe('2026-03-01T12:01:00.000Z')
  // So slow that the host has no such instant.
  expect(wakesAt(emulator(1e-12))).toBe('9998-12-31T23:59:59.999Z')
})

test('a sandbox whose clock stands still, or that has nothing scheduled, only waits for requests', () => {
  expect(wakesAt(emulator(0))).toBeNull()
  expect(wakesAt(emulator(1, { [SCHEDULE]: [] }))).toBeNull()
})

test('what is left to be sent or called wakes a sandbox at once, also when its clock stands still', () => {
  const delivery = (status: string) => ({ [deliveries.name]: [{ id: 'd', status }] })
  expect(wakesAt(emulator(0, delivery('pending')))).toBe(formatInstant(HOST))
  expect(wakesAt(emulator(0, delivery('sending')))).toBe(formatInstant(HOST))
  expect(wakesAt(emulator(0, delivery('delivered')))).toBeNull()
  expect(wakesAt(emulator(0, { [scenarioCalls.name]: [{ id: 'c' }] }))).toBe(formatInstant(HOST))
})
