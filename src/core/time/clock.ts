import { z } from 'zod'
import { refuse } from '../errors.ts'
import { isTimestamp, timestamp } from '../fields.ts'
import { formatInstant } from './instant.ts'
import { real } from './real.ts'

/** The host's time in milliseconds since the Unix epoch. */
export interface HostTime {
  (): number
  /** Real milliseconds from an arbitrary start; setting the host's clock does not change them. Absent: it is never set. */
  readonly elapsed?: () => number
}

/** Real milliseconds since the process started; only differences are meaningful. */
export const elapsedTime: () => number = real.elapsed

/** The only reader of the host's clock. Everything else gets the time as an argument. */
export const hostTime: HostTime = Object.assign(() => real.now(), { elapsed: elapsedTime })

/** The first instant of a clock. Headers have instants in seconds since the Unix epoch, which must not be negative. */
export const START_OF_TIME = Date.UTC(1970, 0)

/** The last instant of a clock. It leaves a year for later timestamps of the usual form, such as the end of a retention. */
export const END_OF_TIME = Date.UTC(9998, 11, 31, 23, 59, 59, 999)

/** Both bounds of a clock, for messages. */
export const CLOCK_RANGE = `${formatInstant(START_OF_TIME)} to ${formatInstant(END_OF_TIME)}`

/** An instant that a clock can have, unless another first one is given. */
export function clockInstant(first = START_OF_TIME): z.ZodType<string, string> {
  const isWithin = (ms: number) => ms >= first && ms <= END_OF_TIME
  // A text that is not a timestamp has that issue alone.
  return timestamp().refine((value) => !isTimestamp(value) || isWithin(Date.parse(value)), {
    error: `must be an instant that the clock supports: ${CLOCK_RANGE}`,
  })
}

/** Refuses an instant after the last one of a clock with `conflict`. @param what happens then, as the subject of a sentence */
export function refuseAfterEnd(instant: number, what: string): void {
  if (instant <= END_OF_TIME) return
  refuse('conflict', {
    detail: `${what} is after the last instant that the clock supports: ${CLOCK_RANGE}.`,
    mitigation:
      'A reset with an earlier {"clock": "INSTANT"} starts the sandbox again: "workspace-emulator call POST /reset JSON".',
  })
}

/** The maximum rate. More than a virtual day in a real second has no use, and would soon lead to the last instant. */
export const FASTEST = 100_000

/** Milliseconds that the host's clock may be ahead of the time that has passed. More: the machine slept, or its clock was set. */
const MAX_AHEAD = 10_000

/** Milliseconds that the host's clock may be late. More: it was set back. */
const MAX_BEHIND = 1_000

/** The clock of a state document: at the host instant `wall` the virtual instant was `now`. */
export const clockFields = () =>
  z.strictObject({
    now: clockInstant(),
    /** Virtual seconds per real second, 0 to 100,000; 0 stops the clock. */
    rate: z.number().min(0).max(FASTEST),
    /** Whether a poll of an unfinished record first advances the clock to its next work event. */
    skip_on_poll: z.boolean(),
    /** Null while the clock is stopped: then the host's time has no meaning. */
    wall: timestamp().nullable(),
  })

export type ClockRow = { readonly id: 'clock' } & Readonly<z.output<ReturnType<typeof clockFields>>>

/** Changes of how time passes. */
export interface ClockChanges {
  readonly rate?: number | undefined
  readonly skip_on_poll?: boolean | undefined
}

/** A virtual instant and the real instant it belongs to: `elapsed` for this process, `wall` for the next one. */
interface Anchor {
  readonly virtual: number
  readonly rate: number
  readonly elapsed: number
  readonly wall: number
}

/**
 * The virtual clock of one sandbox. `now` is fixed while a request or an event is handled; it moves forward with
 * {@link Clock.moveTo}, and backwards only with {@link Clock.restart}.
 */
export class Clock {
  readonly host: HostTime
  #anchor: Anchor
  #now: number
  #skipsOnPoll: boolean

  constructor(host: HostTime, row: ClockRow, floor = START_OF_TIME) {
    this.host = host
    this.#skipsOnPoll = row.skip_on_poll
    this.#now = Math.max(Date.parse(row.now), floor)
    const anchor = this.#anchorOf(row)
    // If the host's clock was set back since, the clock would otherwise not move until it reaches the floor.
    this.#anchor = { ...anchor, virtual: Math.max(anchor.virtual, floor) }
  }

  /** Virtual milliseconds since the Unix epoch. */
  get now(): number {
    return this.#now
  }

  /** Whether polls of unfinished work skip to its next step. */
  get skipsOnPoll(): boolean {
    return this.#skipsOnPoll
  }

  get rate(): number {
    return this.#anchor.rate
  }

  /** Real milliseconds of a clock that cannot be set; only differences are meaningful. */
  get elapsed(): number {
    const { host } = this
    return host.elapsed?.() ?? host()
  }

  /** The virtual instant that the clock should be at, by the real time that has passed. It stops at {@link END_OF_TIME}. */
  due(): number {
    const { virtual, rate, elapsed } = this.#anchor
    if (rate === 0) return this.#now
    return Math.max(this.#now, Math.min(END_OF_TIME, Math.floor(virtual + (this.elapsed - elapsed) * rate)))
  }

  /** Moves forward; an instant in the past changes nothing. */
  moveTo(instant: number): void {
    if (instant > this.#now) this.#now = instant
  }

  /** Follows a changed clock record from now on. */
  follow(row: ClockRow): void {
    this.#skipsOnPoll = row.skip_on_poll
    this.#anchor = this.#anchorOf(row)
    this.moveTo(Date.parse(row.now))
  }

  /** Goes to the record's instant even if that is in the past. Only for a sandbox that is reset or restored. */
  restart(row: ClockRow): void {
    this.#now = Date.parse(row.now)
    this.follow(row)
  }

  /** Real milliseconds until a virtual instant; undefined while the clock is stopped. */
  realUntil(instant: number): number | undefined {
    if (this.rate === 0) return undefined
    return Math.max(0, (instant - this.due()) / this.rate)
  }

  /**
   * Compares the host's clock with the real time that has passed. If it was set back, the virtual clock does not change. If it
   * is far ahead, the virtual clock follows: that is the only sign of a machine that slept.
   * @returns real milliseconds that it was set forward, or back when negative; undefined when it was not
   */
  compareWithHost(): number | undefined {
    const anchor = this.#anchor
    const jump = this.host() - anchor.wall - (this.elapsed - anchor.elapsed)
    if (anchor.rate === 0 || (jump >= -MAX_BEHIND && jump <= MAX_AHEAD)) return undefined
    const slept = Math.max(0, jump)
    this.#anchor = { ...anchor, virtual: anchor.virtual + slept * anchor.rate, wall: anchor.wall + jump }
    return jump
  }

  /** The record of a clock that goes on from here with another rate, or with other polls. */
  rowWith({ rate = this.rate, skip_on_poll = this.#skipsOnPoll }: ClockChanges): ClockRow {
    return clockRow({ now: this.#now, rate, skip_on_poll }, this.host)
  }

  /** The clock as a record for the next process: `wall` is the host instant at which the clock should have been at `now`. */
  toRow(): ClockRow {
    const { virtual, rate, wall } = this.#anchor
    if (rate === 0) return this.rowWith({})
    const instant = Math.min(this.host(), wall + (this.#now - virtual) / rate)
    return clockRow({ now: this.#now, rate, skip_on_poll: this.#skipsOnPoll }, () => instant)
  }

  // Between two processes only the host's clock measures the time, and it may have been set back.
  #anchorOf(row: ClockRow): Anchor {
    const wall = this.host()
    const between = row.wall === null ? 0 : Math.max(0, wall - Date.parse(row.wall))
    return {
      virtual: Date.parse(row.now) + between * row.rate,
      rate: row.rate,
      elapsed: this.elapsed,
      wall,
    }
  }
}

/** A clock record that starts at a virtual instant, anchored to the host's clock unless the rate is 0. */
export function clockRow(
  start: { now: number; rate: number; skip_on_poll: boolean },
  host: HostTime,
): ClockRow {
  return {
    id: 'clock',
    now: formatInstant(start.now),
    rate: start.rate,
    skip_on_poll: start.skip_on_poll,
    wall: start.rate === 0 ? null : formatInstant(host()),
  }
}
