import * as z from 'zod'
import { nonEmptyText, timestamp } from '../../kernel/fields.ts'
import { successRead } from '../../kernel/open-items.ts'
import { operation, type Resource } from '../../kernel/operation.ts'
import { cursorQuery, listOrder, ordered } from '../../kernel/request/pagination.ts'
import { collection } from '../../kernel/state/collection.ts'
import { DAY } from '../../kernel/time/duration.ts'
import { readPage } from '../cursor-page.ts'
import { missing } from '../missing.ts'
import { organizations } from '../organizations.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import { fromCursor, toCursor } from './position-cursor.ts'
import { dayCount, queryInstant, startAfterEnd, tooLong, windowOf } from './window.ts'

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
      /** Null for what the organization itself consumed. */
      teamspace_id: z.string().nullable().default(null),
    }),
  })

type ConsumptionRow = z.output<ReturnType<typeof rowRecord>>

const consumptionRows = collection<ConsumptionRow>({
  name: 'consumption_rows',
  label: 'consumption row',
  schema: rowRecord,
  check: ({ _emulator }, tx) =>
    missing(tx, organizations, _emulator.organization_id, '_emulator', 'organization_id'),
  generate: ({ faker, chance, newId, ago, any, n }) => {
    const { id: teamspace_id, _emulator } = any(teamspaces)
    const { id: organization_id, name } = any(organizations, ({ id }) => id === _emulator.organization_id)
    return {
      object: 'consumption_breakdown',
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
  dialect: 'standard',
  contract: true,
  success: successRead,
  answer: () =>
    z.strictObject({
      object: z.literal('list'),
      data: z.array(shownRow()),
      has_more: z.boolean(),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
    }),
  input: ({ object }) => ({
    query: object({
      start_date: queryInstant().optional(),
      end_date: queryInstant().optional(),
      limit: cursorQuery.limit(),
      after: cursorQuery.after(),
      before: cursorQuery.before(),
    }),
  }),
  handle: (request) => {
    const { tx, query, caller, seed, assume } = request
    const window = windowOf({ start: query.start_date, end: query.end_date }, request)
    const isWanted = ({ created_at, _emulator }: ConsumptionRow): boolean => {
      if (window === undefined || _emulator.organization_id !== caller.organization_id) return false
      const ms = Date.parse(created_at)
      return window.from <= ms && ms < window.until
    }
    const rows = ordered(tx.in(consumptionRows).filter(isWanted), assume(listOrder), seed)
    const page = readPage(rows, query, fromCursor, assume)
    const { length } = page.items
    return {
      body: {
        object: 'list',
        data: page.items.map(itemOf),
        has_more: page.hasMore,
        first_id: length === 0 ? null : toCursor(page.start),
        last_id: length === 0 ? null : toCursor(page.start + length - 1),
      },
    }
  },
})

function itemOf({ id: _, _emulator: __, ...row }: ConsumptionRow): object {
  return row
}

export const consumptionRoom: Resource = {
  name: 'consumption',
  operations: [listConsumption],
  collections: [consumptionRows],
  assumptions: {
    items: [
      {
        id: 'U027',
        open: 'What a report over more than 90 days answers.',
        reading: 'It is refused; settings cut the window or empty the list.',
        shows: 'answer',
      },
      {
        id: 'U028',
        open: 'The report without start_date or end_date, and with a start after the end.',
        reading:
          'No end: now. No start: 90 days, the last one being that of the end. A start after the end: an empty list.',
        shows: 'answer',
      },
      {
        id: 'T22',
        open: 'How the 90 UTC calendar days of a report are counted.',
        reading: 'Every date that the window touches, both ends included.',
        shows: 'answer',
      },
      {
        id: 'T23',
        open: 'How far the last day of a date-only end_date reaches.',
        reading:
          'Up to the next UTC midnight, so that no fraction of its last second is lost. The sentence itself says the whole day, so nothing is chosen.',
        shows: 'nowhere',
      },
      {
        id: 'T24',
        open: 'The zone of a date-time without an offset.',
        reading: 'UTC, as everything else in the report.',
        shows: 'answer',
      },
    ],
    settings: [tooLong, dayCount, startAfterEnd],
  },
}
