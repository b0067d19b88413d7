const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export const SECOND = UNITS.s
export const MINUTE = UNITS.m
export const HOUR = UNITS.h
export const DAY = UNITS.d

const SHORT = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/
const ISO = /^P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/**
 * Milliseconds of a duration written as `250ms`, `90s`, `10m`, `24h`, `29d` or ISO 8601 (`PT24H`, `P29D`); undefined for
 * anything else. Fractions of a millisecond are rounded. Years, months and weeks are not supported.
 */
export function parseDuration(text: string): number | undefined {
  const short = SHORT.exec(text)
  if (short !== null) return Math.round(Number(short[1]) * UNITS[short[2] as keyof typeof UNITS])
  const iso = ISO.exec(text)
  if (iso === null || text === 'P') return undefined
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = iso
  return Math.round(
    Number(days) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND,
  )
}

/** Writes milliseconds in the largest unit that divides them: `1d`, `90m`, `1500ms`. */
export function formatDuration(ms: number): string {
  const found = Object.entries(UNITS).findLast(([, size]) => ms >= size && ms % size === 0)
  const [unit, size] = found ?? ['ms', 1]
  return `${ms / size}${unit}`
}

const PATTERN =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(\d\d))(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/i

// The form that `formatInstant` writes, with a day that every month has: always valid, without further checks.
const USUAL = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** An instant, exactly. */
export interface ExactInstant {
  /** Milliseconds since the Unix epoch, rounded down. */
  readonly ms: number
  /** The digits of the fraction below the millisecond, without zeros at the end. */
  readonly finer: string
}

/** Negative when the first instant is earlier, 0 when both are the same. */
export function compareInstants(a: ExactInstant, b: ExactInstant): number {
  return a.ms - b.ms || Number(a.finer > b.finer) - Number(a.finer < b.finer)
}

/** An instant as a caller wrote it. */
export interface ParsedInstant extends ExactInstant {
  /** True for `2024-03-01`: the caller named a whole UTC day. */
  readonly dateOnly: boolean
}

/**
 * Reads an ISO 8601 date or date-time strictly: `2024-02-30`, `2024-1-1` and `0` are refused, although the Date constructor
 * accepts them. Without an offset a date-time is UTC (T24), never the host's zone. Undefined when refused.
 */
export function parseInstant(text: string): ParsedInstant | undefined {
  if (USUAL.test(text)) return { ms: Date.parse(text), finer: '', dateOnly: false }
  const [, date, day, fraction = '', zone] = PATTERN.exec(text) ?? []
  // A day that the month does not have becomes one of the next month.
  if (date === undefined || new Date(date).getUTCDate() !== Number(day)) return undefined
  const dateOnly = text === date
  const ms = Date.parse(dateOnly || zone !== undefined ? text.toUpperCase() : `${text}Z`)
  return { ms, finer: fraction.slice(3).replace(/0+$/, ''), dateOnly }
}

/** Writes an instant in the form that is used everywhere: UTC, milliseconds, `Z` (U013). */
export function formatInstant(ms: number): string {
  // Caches the last text: a request writes its own instant about six times.
  if (ms !== last.ms) last = { ms, text: Number.isInteger(ms) ? instantText(ms) : new Date(ms).toISOString() }
  return last.text
}

let last = { ms: 0, text: '1970-01-01T00:00:00.000Z' }

// A reset writes thousands of instants, and `toISOString` takes five times as long.
function instantText(ms: number): string {
  const day = startOfDay(ms)
  if (!dates.has(day)) {
    if (dates.size === MAX_DATES) dates.clear()
    dates.set(day, new Date(day).toISOString().replace(/T.*/, 'T'))
  }
  const time = ms - day
  const two = (unit: number, most: number) => TWO[Math.floor(time / unit) % most]
  const clock = `${two(HOUR, 24)}:${two(MINUTE, 60)}:${two(SECOND, 60)}`
  return `${dates.get(day)}${clock}.${String(time % SECOND).padStart(3, '0')}Z`
}

const TWO = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))

/** The texts of days, by their first millisecond. */
const dates = new Map<number, string>()
const MAX_DATES = 1_000

/** The start of the UTC day that an instant lies in. */
export function startOfDay(ms: number): number {
  return Math.floor(ms / DAY) * DAY
}
