import { expect, test } from 'vitest'
import { Clock, clockRow, END_OF_TIME, refuseAfterEnd } from './clock.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')
const WALL = Date.parse('2030-01-01T00:00:00.000Z')

/** A clock that was started at START at the host instant WALL; the test sets the host's clock. */
function clockAt(rate: number) {
  const host = { now: WALL }
  const row = clockRow({ now: START, rate, skip_on_poll: false }, () => host.now)
  return { host, row, clock: new Clock(() => host.now, row) }
}

const HOUR = 3_600_000

/** Like {@link clockAt}, on a machine whose clock can be set: `pass` lets real time pass, `set` sets the clock. */
function machine(rate: number) {
  const state = { wall: WALL, elapsed: 500 }
  const host = Object.assign(() => state.wall, { elapsed: () => state.elapsed })
  const row = clockRow({ now: START, rate, skip_on_poll: false }, host)
  const set = (by: number) => {
    state.wall += by
  }
  const pass = (ms: number) => {
    set(ms)
    state.elapsed += ms
  }
  return { host, clock: new Clock(host, row), pass, set }
}

test('a stopped clock stays at its instant whatever the host clock shows, and has no real wait', () => {
  const { clock, set } = machine(0)
  set(8 * HOUR)
  expect(clock.compareWithHost()).toBeUndefined()
  expect([clock.now, clock.due(), clock.rate]).toEqual([START, START, 0])
  expect(clock.realUntil(START + 1)).toBeUndefined()
})

test('the record of a stopped clock has no host instant', () => {
  expect(clockAt(0).row).toMatchObject({ now: '2026-03-01T12:00:00.000Z', rate: 0, wall: null })
  expect(clockAt(2).row).toMatchObject({ rate: 2, wall: '2030-01-01T00:00:00.000Z' })
})

test('a running clock is due at its rate times the real time, in whole milliseconds, and moves only with moveTo', () => {
  const { host, clock } = clockAt(2.5)
  host.now += 1_001
  expect([clock.due(), clock.now]).toEqual([START + 2_502, START])
})

test('the last instant that can be written is the last of a running clock, and of events', () => {
  const { host, clock } = clockAt(100_000)
  host.now += 10_000 * 365 * 86_400_000
  expect(clock.due()).toBe(END_OF_TIME)
  expect(new Date(END_OF_TIME).toISOString()).toBe('9998-12-31T23:59:59.999Z')
  expect(() => refuseAfterEnd(END_OF_TIME, 'It')).not.toThrow()
  expect(() => refuseAfterEnd(END_OF_TIME + 1, 'It')).toThrow(/^It is after the last instant that the clock/)
})

test('a clock moves forward only, and not from before the floor, the last instant in the sandbox', () => {
  const { clock, row, host } = clockAt(0)
  clock.moveTo(START + 10)
  clock.moveTo(START + 9)
  expect(clock.now).toBe(START + 10)
  expect(new Clock(() => host.now, row, START + 7).now).toBe(START + 7)
  expect(new Clock(() => host.now, row, START - 7).now).toBe(START)
})

test('a clock that follows a record never goes back, but a restart does', () => {
  const { host, clock } = clockAt(0)
  clock.moveTo(START + 60_000)
  const row = clockRow({ now: START + 1_000, rate: 1, skip_on_poll: false }, () => host.now)
  clock.follow(row)
  host.now += 100_000
  expect([clock.now, clock.due(), clock.rate]).toEqual([START + 60_000, START + 101_000, 1])
  clock.restart(row)
  expect([clock.now, clock.due()]).toEqual([START + 1_000, START + 101_000])
})

test('a record without a host instant is anchored when it is read', () => {
  const { host, row, clock } = clockAt(0)
  host.now += 50_000
  clock.follow({ ...row, rate: 1 })
  host.now += 1_000
  expect(clock.due()).toBe(START + 1_000)
})

test('the real wait for an instant is divided by the rate, and 0 for an instant in the past', () => {
  const { host, clock } = clockAt(10)
  expect(clock.realUntil(START + 5_000)).toBe(500)
  host.now += 200
  expect(clock.realUntil(START + 5_000)).toBe(300)
  expect(clock.realUntil(START + 1_000)).toBe(0)
})

test('the clock follows a host clock that is far ahead of the real time: the machine slept', () => {
  const { clock, pass, set } = machine(2)
  pass(10_000)
  set(8 * HOUR)
  expect(clock.due()).toBe(START + 20_000)
  expect(clock.compareWithHost()).toBe(8 * HOUR)
  expect([clock.due(), clock.compareWithHost()]).toEqual([START + 20_000 + 16 * HOUR, undefined])
})

test('the clock runs on after the host clock jumps ahead by mistake and is corrected', () => {
  const { clock, pass, set } = machine(1)
  const years = 10 * 365 * 24 * HOUR
  set(years)
  clock.compareWithHost()
  clock.moveTo(clock.due())
  set(-years)
  expect(clock.compareWithHost()).toBe(-years)
  pass(5_000)
  expect(clock.due()).toBe(START + years + 5_000)
})

test.for([10_000, 1, -1, -1_000])('a host clock that is off by %d ms changes nothing', (by) => {
  const { clock, set } = machine(1)
  set(by)
  expect([clock.compareWithHost(), clock.due()]).toEqual([undefined, START])
})

test.for([
  ['as it was', 0, 60_000],
  ['an hour ahead', HOUR, 60_000 + HOUR],
  ['an hour back', -HOUR, 0],
] as const)('the next process counts the time in between by the host clock, %s', ([, by, counted]) => {
  const { host, clock, pass, set } = machine(2)
  pass(5_000)
  clock.moveTo(clock.due())
  const row = clock.toRow()
  pass(60_000)
  set(by)
  const next = new Clock(host, row)
  expect([next.now, next.due()]).toEqual([START + 10_000, START + 10_000 + 2 * counted])
  pass(1_000)
  expect(next.due()).toBe(START + 12_000 + 2 * counted)
})

test('a host clock that was ahead when the record was written does not stop the clock of the next process', () => {
  const { host, clock, pass, set } = machine(1)
  set(10 * 365 * 24 * HOUR)
  const row = clockRow({ now: clock.now, rate: 1, skip_on_poll: false }, host)
  set(-10 * 365 * 24 * HOUR)
  const next = new Clock(host, row, START + 60_000)
  pass(2_000)
  expect(next.due()).toBe(START + 62_000)
})

test('the record of a late clock has the host instant at which it was due, so that the backlog is kept', () => {
  const { host, clock, pass } = machine(10)
  pass(60_000)
  clock.moveTo(START + 100_000)
  expect(clock.toRow()).toMatchObject({ now: '2026-03-01T12:01:40.000Z', wall: '2030-01-01T00:00:10.000Z' })
  expect(new Clock(host, clock.toRow()).due()).toBe(START + 600_000)
})
