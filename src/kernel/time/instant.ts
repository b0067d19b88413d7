import { DAY, MINUTE } from './duration.ts'

const PATTERN = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})?)?$/

/** An instant as a caller wrote it. */
export interface ParsedInstant {
  /** Milliseconds since the Unix epoch, rounded down. */
  readonly ms: number
  /** True for `2024-03-01`: the caller named a whole UTC day. */
  readonly dateOnly: boolean
}

/**
 * Reads an ISO 8601 date or date-time strictly: `2024-02-30`, `2024-1-1` and `0` are refused, where the Date constructor
 * would make something of them. Without an offset a date-time is UTC (T24), never the host's zone. Undefined when refused.
 */
export function parseInstant(text: string): ParsedInstant | undefined {
  const match = PATTERN.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction, offset] = match
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  const date = new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (!isCalendarDate(date, Number(month), Number(day))) return undefined
  if (hour === undefined) return { ms: date, dateOnly: true }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const zone = offsetMinutes(offset)
  if (zone === undefined) return undefined
  const time = (Number(hour) * 60 + Number(minute) - zone) * MINUTE + Number(second) * 1000
  return { ms: date + time + Math.floor(Number(`0.${fraction ?? 0}`) * 1000), dateOnly: false }
}

/** How instants are written everywhere: UTC, milliseconds, `Z` (U013). */
export function formatInstant(ms: number): string {
  // A request writes its own instant half a dozen times, so that the last one is most often the one that is wanted.
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() }
  return last.text
}

let last = { ms: 0, text: '1970-01-01T00:00:00.000Z' }

/** The start of the UTC day that an instant lies in. */
export function startOfDay(ms: number): number {
  return Math.floor(ms / DAY) * DAY
}

function isCalendarDate(ms: number, month: number, day: number): boolean {
  const date = new Date(ms)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

function offsetMinutes(offset: string | undefined): number | undefined {
  if (offset === undefined || offset === 'Z' || offset === 'z') return 0
  const [hours, minutes] = [Number(offset.slice(1, 3)), Number(offset.slice(4, 6))]
  if (hours > 23 || minutes > 59) return undefined
  return (offset[0] === '-' ? -1 : 1) * (hours * 60 + minutes)
}
