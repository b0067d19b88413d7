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

test('a clock that is made of a record does not begin before the floor, the last instant that the sandbox knows of', () => {
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

const HOUR = 3_600_000

/** As {@link clockAt}, on a machine whose clock can be set: `pass` lets real time pass, `set` changes what the clock says. */
function machine(rate: number) {
  const state = { wall: WALL, elapsed: 500 }
  const host = Object.assign(() => state.wall, { elapsed: () => state.elapsed })
  const row = clockRow({ now: START, rate, skip_on_poll: false }, host)
  return {
    host,
    clock: new Clock(host, row),
    pass: (ms: number) => {
      state.wall += ms
      state.elapsed += ms
    },
    set: (by: number) => {
      state.wall += by
    },
  }
}

test('a host clock that is set back does not stop the clock', () => {
  const { clock, pass, set } = machine(2)
  pass(10_000)
  set(-HOUR)
  expect(clock.compareWithHost()).toBe(-HOUR)
  expect(clock.due()).toBe(START + 20_000)
  pass(1_000)
  expect([clock.due(), clock.compareWithHost()]).toEqual([START + 22_000, undefined])
})

test('a host clock that is far ahead of the time that has passed is followed: the machine slept', () => {
  const { clock, pass, set } = machine(2)
  pass(10_000)
  set(8 * HOUR)
  expect(clock.due()).toBe(START + 20_000)
  expect(clock.compareWithHost()).toBe(8 * HOUR)
  expect([clock.due(), clock.compareWithHost()]).toEqual([START + 20_000 + 16 * HOUR, undefined])
})

test('a host clock that jumped ahead by mistake and is put right again leaves the clock running', () => {
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

test.for([10_000, 1, -1, -1_000])('a host clock that is off by %d ms is left alone', (by) => {
  const { clock, set } = machine(1)
  set(by)
  expect([clock.compareWithHost(), clock.due()]).toEqual([undefined, START])
})

test('the host clock does not matter to a clock that stands still', () => {
  const { clock, set } = machine(0)
  set(8 * HOUR)
  expect([clock.compareWithHost(), clock.due()]).toEqual([undefined, START])
})

test.for([
  ['as it was', 0, 60_000],
  ['an hour ahead', HOUR, 60_000 + HOUR],
  ['an hour back', -HOUR, 0],
] as const)(
  'the next process counts the time in between by the host clock, %s, and never less than none',
  ([, by, counted]) => {
    const { host, clock, pass, set } = machine(2)
    pass(5_000)
    clock.moveTo(clock.due())
    const row = clock.toRow(false)
    pass(60_000)
    set(by)
    const next = new Clock(host, row)
    expect([next.now, next.due()]).toEqual([START + 10_000, START + 10_000 + 2 * counted])
    pass(1_000)
    expect(next.due()).toBe(START + 12_000 + 2 * counted)
  },
)

test('a host clock that was ahead when the record was written does not stop the next process at the last instant known', () => {
  const { host, clock, pass, set } = machine(1)
  set(10 * 365 * 24 * HOUR)
  const row = clockRow({ now: clock.now, rate: 1, skip_on_poll: false }, host)
  set(-10 * 365 * 24 * HOUR)
  const next = new Clock(host, row, START + 60_000)
  pass(2_000)
  expect(next.due()).toBe(START + 62_000)
})

test('the record of a clock that is behind says when it ought to have stood there, so that nothing of the backlog is lost', () => {
  const { host, clock, pass } = machine(10)
  pass(60_000)
  clock.moveTo(START + 100_000)
  expect(clock.toRow(true)).toEqual({
    id: 'clock',
    now: '2026-03-01T12:01:40.000Z',
    rate: 10,
    skip_on_poll: true,
    wall: '2030-01-01T00:00:10.000Z',
  })
  expect(new Clock(host, clock.toRow(false)).due()).toBe(START + 600_000)
})
