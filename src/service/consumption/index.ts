import { z } from 'zod'
import { inResponse, unnamedItem } from '../../core/assumptions.ts'
import { nonEmptyText, timestamp } from '../../core/fields.ts'
import { operation } from '../../core/operation.ts'
import { hash } from '../../core/random.ts'
import { listOrder, ordered } from '../../core/request/pagination.ts'
import type { Resource } from '../../core/service.ts'
import { collection } from '../../core/state/collection.ts'
import { compareInstants, DAY, type ExactInstant, parseInstant } from '../../core/time/instant.ts'
import { listResponse, pageQuery, readPage, type Spot } from '../cursor-page.ts'
import { organizations } from '../organizations.ts'
import { refersTo } from '../records.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import {
  type Dates,
  dateForms,
  dayCount,
  endAfter,
  queryInstant,
  startAfterEnd,
  tooLong,
  windowOf,
  withoutDates,
  zoneless,
} from './window.ts'

const FORM = /^v1:(0|[1-9]\d{0,14}):/

/**
 * The cursor of the row at a position of the result set, counted from 0. It does not identify the row itself: rows that are
 * written between two pages shift the window. `dates` are those of the query: in the report of other dates the position is that
 * of another row (U022). Specification: List consumption breakdown.
 */
export function toCursor(position: number, dates: Dates = {}): string {
  const [start, end] = [textOf(dates.start), textOf(dates.end && endAfter(dates.end))]
  return Buffer.from(`v1:${position}:${hash(0, start, end)}`).toString('base64url')
}

// Equal for all forms of one instant.
function textOf(instant: ExactInstant | undefined): string {
  return instant === undefined ? '' : `${instant.ms} ${instant.finer}`
}

/**
 * The position of a cursor, which may be after the end of the list; undefined for a text that is not from {@link toCursor}
 * with the same dates.
 */
export function fromCursor(cursor: string, dates: Dates = {}): Spot | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, digits] = FORM.exec(text) ?? []
  if (digits === undefined) return undefined
  const start = Number(digits)
  // Decoding ignores characters outside the alphabet, so the cursor is encoded again and compared.
  return toCursor(start, dates) === cursor ? { start, end: start + 1 } : undefined
}

const shownRow = () =>
  z.strictObject({
    object: z.literal('consumption_breakdown').default('consumption_breakdown'),
    credits: z.number(),
    created_at: timestamp(),
    action: z.string(),
    organization: z.string(),
    resource: z.string(),
    resource_type: z.string(),
    credit_source: z.string(),
  })

const rowRecord = () =>
  shownRow().extend({
    id: nonEmptyText(),
    _emulator: z.strictObject({
      organization_id: z.string(),
      /** Null for consumption of the organization itself. */
      teamspace_id: z.string().nullable().default(null),
    }),
  })

type ConsumptionRow = z.output<ReturnType<typeof rowRecord>>

const consumptionRows = collection<ConsumptionRow>({
  name: 'consumption_rows',
  label: 'consumption row',
  schema: rowRecord,
  check: refersTo(organizations, '_emulator', 'organization_id'),
  generate: ({ faker, chance, newId, ago, any, n }) => {
    const { id: teamspace_id, _emulator } = any(teamspaces)
    const { id: organization_id, name } = any(organizations, ({ id }) => id === _emulator.organization_id)
    return {
      id: newId(),
      credits: chance.int(1, 5000) / 100,
      created_at: ago(chance.int(0, 120 * DAY)),
      action: chance.pick(['converse', 'batch_prediction', 'automation_run']),
      organization: name,
      resource: faker.word.words(2),
      resource_type: chance.pick(['agent', 'batch', 'automation']),
      credit_source: chance.pick(['plan', 'purchase']),
      _emulator: { organization_id, teamspace_id: n % 10 === 0 ? null : teamspace_id },
    }
  },
})

const listConsumption = operation({
  name: 'consumption.list',
  method: 'GET',
  path: '/organization/reports/consumption-breakdown',
  summary: 'List the credits that the organization consumed',
  section: 'List consumption breakdown',
  output: () =>
    listResponse(shownRow()).extend({
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    }),
  input: ({ object }) => ({
    query: object({
      start_date: queryInstant().optional(),
      end_date: queryInstant().optional(),
      ...pageQuery(),
    }),
  }),
  handle: (request) => {
    const { tx, query, caller, seed, settings } = request
    const dates = { start: query.start_date, end: query.end_date }
    const rows = (): readonly ConsumptionRow[] => {
      const window = windowOf(dates, request)
      const isWanted = ({ created_at, _emulator }: ConsumptionRow): boolean => {
        if (window === undefined || _emulator.organization_id !== caller.organization_id) return false
        const instant = parseInstant(created_at)
        if (instant === undefined) return false
        return compareInstants(window.from, instant) <= 0 && compareInstants(instant, window.until) < 0
      }
      return ordered(tx.in(consumptionRows).filter(isWanted), settings.get(listOrder), seed)
    }
    const page = readPage(rows, query, (cursor) => fromCursor(cursor, dates), request)
    const { length } = page.items
    return {
      body: {
        object: 'list',
        data: page.items.map(({ id: _, _emulator: __, ...row }) => row),
        has_more: page.hasMore,
        first_id: length === 0 ? null : toCursor(page.start, dates),
        last_id: length === 0 ? null : toCursor(page.start + length - 1, dates),
      },
    }
  },
})

export const consumptionResource: Resource = {
  name: 'consumption',
  operations: [listConsumption],
  collections: [consumptionRows],
  assumptions: {
    items: [
      inResponse(
        'U027',
        'The response to a report over more than 90 days.',
        'It is refused; settings cut the window or empty the list.',
      ),
      inResponse(
        'U028',
        'The report without start_date or end_date, and with a start after the end.',
        'No end: now. No start: the 90 days up to the day of the end. A start after the end: an empty list.',
      ),
      inResponse(
        'T22',
        'How the 90 UTC calendar days of a report are counted.',
        'Every date that the window touches, both ends included.',
      ),
      unnamedItem(
        'T23',
        'How far the last day of a date-only end_date reaches.',
        'Up to the next UTC midnight, so that no fraction of its last second is lost. The specification requires the whole day, so nothing is chosen.',
        'The sentence of the specification decides it.',
      ),
      inResponse(
        'T24',
        'The zone of a date-time without an offset.',
        'UTC, as everything else in the report.',
      ),
      inResponse(
        'U077',
        'Which forms of ISO 8601 the dates of a report may have.',
        'Any calendar form with a date, or with date and time: 20260201, 2026-02-01T00:00Z, +01, a decimal comma, 24:00. Week dates, ordinal dates and reduced forms are refused. RFC 3339 needs no such choice.',
      ),
    ],
    settings: [tooLong, dayCount, startAfterEnd, withoutDates, zoneless, dateForms],
  },
}
