import { expect, test } from 'vitest'
import { Clock, clockRow, END_OF_TIME } from './clock.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')
const WALL = Date.parse('2030-01-01T00:00:00.000Z')

/** A clock that was started at START when the host said WALL; the test sets what the host says. */
function clockAt(rate: number) {
  const host = { now: WALL }
  const row = clockRow({ now: START, rate, skip_on_poll: false }, () => host.now)
  return { host, row, clock: new Clock(() => host.now, row) }
}

test('a clock that stands still is due where it is, whatever the host says, and waits for nothing', () => {
  const { host, clock } = clockAt(0)
  host.now += 3_600_000
  expect([clock.now, clock.due(), clock.rate]).toEqual([START, START, 0])
  expect(clock.realUntil(START + 1)).toBeUndefined()
})

test('the record of a clock that stands still names no instant of the host', () => {
  expect(clockAt(0).row).toEqual({
    id: 'clock',
    now: '2026-03-01T12:00:00.000Z',
    rate: 0,
    skip_on_poll: false,
    wall: null,
  })
  expect(clockAt(2).row).toMatchObject({ rate: 2, wall: '2030-01-01T00:00:00.000Z' })
})

test('a running clock is due its rate times the real time further on, in whole milliseconds, and stays until it is moved', () => {
  const { host, clock } = clockAt(2.5)
  host.now += 1_001
  expect([clock.due(), clock.now]).toEqual([START + 2_502, START])
})

test('a host that is set back stops the clock and does not turn it back', () => {
  const { host, clock } = clockAt(1)
  host.now += 5_000
  clock.moveTo(clock.due())
  host.now -= 60_000
  expect(clock.due()).toBe(START + 5_000)
})

test('a running clock ends at the last instant that can be written', () => {
  const { host, clock } = clockAt(100_000)
  host.now += 10_000 * 365 * 86_400_000
  expect(clock.due()).toBe(END_OF_TIME)
  expect(new Date(END_OF_TIME).toISOString()).toBe('9998-12-31T23:59:59.999Z')
})

test('a clock moves forward only', () => {
  const { clock } = clockAt(0)
  clock.moveTo(START + 10)
  clock.moveTo(START + 9)
  expect(clock.now).toBe(START + 10)
})

test('a clock that is made of a record does not begin before the floor, the last instant that the world knows of', () => {
  const { row, host } = clockAt(0)
  expect(new Clock(() => host.now, row, START + 7).now).toBe(START + 7)
  expect(new Clock(() => host.now, row, START - 7).now).toBe(START)
})

test('a followed record counts from its own anchor and takes no time back; a restart does', () => {
  const { host, clock } = clockAt(0)
  clock.moveTo(START + 60_000)
  const row = clockRow({ now: START + 1_000, rate: 1, skip_on_poll: false }, () => host.now)
  clock.follow(row)
  host.now += 100_000
  expect([clock.now, clock.due(), clock.rate]).toEqual([START + 60_000, START + 101_000, 1])
  clock.restart(row)
  expect([clock.now, clock.due()]).toEqual([START + 1_000, START + 101_000])
})

test('a record that names no instant of the host is anchored when it is read', () => {
  const { host, row, clock } = clockAt(0)
  host.now += 50_000
  clock.follow({ ...row, rate: 1 })
  host.now += 1_000
  expect(clock.due()).toBe(START + 1_000)
})

test('the real wait for an instant is the shorter the faster the clock, and none for what is past', () => {
  const { host, clock } = clockAt(10)
  expect(clock.realUntil(START + 5_000)).toBe(500)
  host.now += 200
  expect(clock.realUntil(START + 5_000)).toBe(300)
  expect(clock.realUntil(START + 1_000)).toBe(0)
})
