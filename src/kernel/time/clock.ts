import type { Row } from '../state/commit.ts'
import { formatInstant } from './instant.ts'

/** The host's time in milliseconds since the Unix epoch. */
export type HostTime = () => number

/** The only reader of the host's clock. Everything else is told what time it is. */
export const hostTime: HostTime = () => Date.now()

/** The last instant of a clock: what is scheduled from there on still has a timestamp of the usual form. */
export const END_OF_TIME = Date.UTC(9998, 11, 31, 23, 59, 59, 999)

/** The fastest rate. More than a virtual day in a real second has no use, and would soon lead to the end of time. */
export const FASTEST = 100_000

/** The clock as a record of the world: at the host instant `wall` the virtual instant was `now`. */
export interface ClockRow extends Row {
  readonly id: 'clock'
  readonly now: string
  /** Virtual seconds per real second; 0 stands still. */
  readonly rate: number
  /** A poll of something unfinished first advances to its next work event. */
  readonly skip_on_poll: boolean
  /** Null while the clock stands still: then no host instant means anything. */
  readonly wall: string | null
}

/**
 * The virtual clock of one world. `now` is fixed while a request or an event is handled; it moves only when somebody calls
 * {@link Clock.moveTo}, and never backwards.
 */
export class Clock {
  readonly host: HostTime
  #anchor: { virtual: number; wall: number; rate: number }
  #now: number

  constructor(host: HostTime, row: ClockRow, floor = 0) {
    this.host = host
    this.#anchor = anchorOf(row, host)
    this.#now = Math.max(Date.parse(row.now), floor)
  }

  /** Virtual milliseconds since the Unix epoch. */
  get now(): number {
    return this.#now
  }

  get rate(): number {
    return this.#anchor.rate
  }

  /** Where the clock ought to stand by the host's clock. A host clock that is set back stops ours, it does not turn it back. */
  due(): number {
    const { virtual, wall, rate } = this.#anchor
    if (rate === 0) return this.#now
    return Math.max(this.#now, Math.min(END_OF_TIME, Math.floor(virtual + (this.host() - wall) * rate)))
  }

  /** Moves forward; an instant in the past leaves the clock where it is. */
  moveTo(instant: number): void {
    if (instant > this.#now) this.#now = instant
  }

  /** Follows a changed clock record from now on. */
  follow(row: ClockRow): void {
    this.#anchor = anchorOf(row, this.host)
    this.moveTo(Date.parse(row.now))
  }

  /** Goes to the record's instant even when that is in the past. Only a world that starts anew or is restored may do that. */
  restart(row: ClockRow): void {
    this.#anchor = anchorOf(row, this.host)
    this.#now = Date.parse(row.now)
  }

  /** Real milliseconds until a virtual instant; undefined while the clock stands still. */
  realUntil(instant: number): number | undefined {
    if (this.rate === 0) return undefined
    return Math.max(0, (instant - this.due()) / this.rate)
  }
}

/** A clock record that starts at a virtual instant, anchored to the host's clock unless it stands still. */
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

function anchorOf(row: ClockRow, host: HostTime) {
  return {
    virtual: Date.parse(row.now),
    wall: row.wall === null ? host() : Date.parse(row.wall),
    rate: row.rate,
  }
}
