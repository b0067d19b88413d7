import { z } from 'zod'
import { choice, type Reliance } from '../../core/assumptions.ts'
import { refuseInvalid } from '../../core/errors.ts'
import type { Issue } from '../../core/json.ts'
import type { Request } from '../../core/operation.ts'
import {
  compareInstants,
  DAY,
  type ExactInstant,
  type ParsedInstant,
  parseInstant,
  startOfDay,
} from '../../core/time/instant.ts'
import type { Assume } from '../records.ts'

/** The most UTC calendar days that a report may span. Specification: Field and parameter bounds. */
const MAX_DAYS = 90

export const tooLong = choice({
  key: 'consumption.over_90',
  item: 'U027',
  description:
    'Decides what happens to a window of more than 90 days: refused, cut to its last 90 days, or an empty list.',
  values: ['reject', 'clamp', 'empty'],
})

export const dayCount = choice({
  key: 'consumption.day_count',
  item: 'T22',
  description:
    'Decides how the days of a window count: every date it touches, or the difference between its last date and its first.',
  values: ['inclusive', 'difference'],
})

export const startAfterEnd = choice({
  key: 'consumption.start_after_end',
  item: 'U028',
  description: 'Decides what happens to a start_date after the end_date: an empty list, or refused.',
  values: ['empty', 'reject'],
})

export const withoutDates = choice({
  key: 'consumption.without_dates',
  item: 'U028',
  description:
    'Decides what happens to a report without start_date or end_date: it ends now, or begins 90 days before its end; or it is refused.',
  values: ['last_90_days', 'reject'],
})

export const zoneless = choice({
  key: 'consumption.zoneless',
  item: 'T24',
  description: 'Decides what happens to a date-time without an offset: taken as UTC, or refused.',
  values: ['utc', 'reject'],
})

export const dateForms = choice({
  key: 'consumption.date_forms',
  item: 'U077',
  description:
    'Sets the forms that dates may have: any calendar form of ISO 8601, or only those of RFC 3339.',
  values: ['iso_8601', 'rfc_3339'],
})

/** An instant in a query. */
interface QueryInstant extends ParsedInstant {
  /** False for a date-time without an offset, which is taken as UTC (T24). */
  readonly zoned: boolean
  /** True for the form of RFC 3339; other forms of ISO 8601 are accepted, too (U077). */
  readonly exact: boolean
}

// The form of RFC 3339, and the other calendar forms of ISO 8601.
const RFC_3339 = /^\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)?)?$/
const CALENDAR =
  /^(\d{4})(-?)(\d\d)\2(\d\d)(?:[Tt](\d\d)(?:(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d+))?)?)?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/

/** A date or a date-time in any calendar form of ISO 8601; undefined for anything else. 24:00 is the start of the next day. */
function readIso(text: string): QueryInstant | undefined {
  const [, year, dash, month, day, hour, , minute = '00', second = '00', fraction = '0', offset = ''] =
    CALENDAR.exec(text) ?? []
  if (year === undefined || dash === undefined) return undefined
  const [date, exact] = [`${year}-${month}-${day}`, RFC_3339.test(text)]
  const midnight = parseInstant(date)
  if (midnight === undefined) return undefined
  if (hour === undefined) return { ...midnight, zoned: true, exact }
  const isNextDay = hour === '24' && Number(minute) + Number(second) + Number(fraction) === 0
  const digits = offset.replace(':', '')
  const zone = digits.length < 3 ? digits || 'Z' : `${digits.slice(0, 3)}:${digits.slice(3) || '00'}`
  const instant = parseInstant(`${date}T${isNextDay ? '00' : hour}:${minute}:${second}.${fraction}${zone}`)
  if (instant === undefined) return undefined
  const ms = instant.ms + (isNextDay ? DAY : 0)
  return { ...instant, ms, zoned: offset !== '', exact: exact && !isNextDay }
}

/** A query parameter that is an ISO 8601 date or date-time. */
export function queryInstant(): z.ZodType<QueryInstant, string> {
  return z
    .string({ error: 'must be given once' })
    .refine((value) => readIso(value) !== undefined, {
      params: { assumed: [dateForms.item, dateForms] satisfies Reliance },
      error:
        'must be an ISO 8601 date or date-time such as 2025-01-31 or 2025-01-31T09:30:00Z; in a URL, + is written %2B',
    })
    .transform((value) => readIso(value) as QueryInstant) // the refinement has let nothing else pass
    .meta({ type: 'string' })
}

/** The dates of a query; each may be absent. */
export interface Dates {
  readonly start?: QueryInstant | undefined
  readonly end?: QueryInstant | undefined
}

/**
 * The first instant after a date that is inclusive: the next midnight after a date alone. After an instant it is the same one
 * with a digit 0, which sorts between it and all later ones.
 */
export function endAfter({ ms, finer, dateOnly }: ParsedInstant): ExactInstant {
  return dateOnly ? { ms: ms + DAY, finer } : { ms, finer: `${finer}0` }
}

/**
 * The virtual instants that a report covers, without `until`; undefined for one without rows. Both dates are inclusive: a date alone starts at
 * UTC midnight, and as an end covers its whole day. Depending on settings, it refuses a window that is too long, or whose end
 * is before its start. Specification: List consumption breakdown.
 */
export function windowOf(
  { start, end }: Dates,
  { now, assume }: Pick<Request<object, unknown>, 'now' | 'assume'>,
): { readonly from: ExactInstant; readonly until: ExactInstant } | undefined {
  refuseInvalid([
    ...dateIssues('/query/start_date', start, assume),
    ...dateIssues('/query/end_date', end, assume),
  ])
  const last = end ?? { ms: now, finer: '', dateOnly: false }
  const until = endAfter(last)
  const lastDay = startOfDay(last.ms)
  const earliest = { ms: lastDay - (MAX_DAYS - 1) * DAY, finer: '' }
  const from: ExactInstant = start ?? earliest
  if (compareInstants(from, until) >= 0) {
    if (assume(startAfterEnd) === 'reject')
      refuseInvalid([{ pointer: '/query/start_date', detail: 'must not be after end_date' }])
    return undefined
  }
  const days = (lastDay - startOfDay(from.ms)) / DAY + 1
  if (days <= MAX_DAYS) return { from, until }
  // The two ways of counting differ only at this length, so only here the response depends on the setting.
  if (days === MAX_DAYS + 1 && assume(dayCount) === 'difference') return { from, until }
  const choice = assume(tooLong)
  if (choice === 'clamp') return { from: earliest, until }
  if (choice === 'empty') return undefined
  const detail = `the window touches ${days} UTC calendar days, but at most ${MAX_DAYS} are possible; use a later start_date or an earlier end_date`
  refuseInvalid([{ pointer: '/query/start_date', detail }])
  return undefined
}

/** Issues of an absent or a valid date that settings do not allow. */
function dateIssues(pointer: string, date: QueryInstant | undefined, assume: Assume): Issue[] {
  if (date === undefined) return assume(withoutDates) === 'reject' ? [{ pointer, detail: 'is required' }] : []
  if (!date.exact && assume(dateForms) === 'rfc_3339')
    return [{ pointer, detail: 'must be written as 2025-01-31 or 2025-01-31T09:30:00Z (RFC 3339)' }]
  if (!date.zoned && assume(zoneless) === 'reject')
    return [{ pointer, detail: 'must end in Z or an offset such as +01:00' }]
  return []
}
