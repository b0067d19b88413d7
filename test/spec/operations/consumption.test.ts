import { expect, test } from 'vitest'
import { change } from '../../../src/core/sandboxes/change.ts'
import { consumptionRow } from '../../support/consumption-row.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../../support/emulator.ts'
import { pointersOf, refused } from '../../support/refusal.ts'

const PATH = '/organization/reports/consumption-breakdown'

const row = (id: string, created_at: string, change: object = {}) =>
  consumptionRow(id, created_at, {
    _emulator: { organization_id: 'org-1', teamspace_id: 'ts-a' },
    ...change,
  })

/** Rows one minute apart; the highest number is the newest, one minute before the sandbox starts. */
const rows = (count: number) => Array.from({ length: count }, (_, n) => row(`row-${n}`, `-${count - n}m`))

const withRows = (consumption_rows: object[], settings = {}) =>
  testEmulator({ collections: { consumption_rows }, settings })

const resourcesOf = ({ body }: TestResponse): string[] =>
  body.data.map(({ resource }: { resource: string }) => resource)

const list = (emulator: TestEmulator, query: Record<string, string> = {}) =>
  emulator.get(`${PATH}?${new URLSearchParams(query)}`)

const EMPTY = { object: 'list', data: [], has_more: false, first_id: null, last_id: null }

test('rows have eight fields, the list five', {
  tags: ['R006', 'R054', 'R055', 'R056', 'R171'],
}, async () => {
  const given = row('row-0', '2026-03-01T11:00:00.000Z', { credits: 0.1 })
  const { id: _, _emulator: __, ...fields } = given
  const { status, body } = await (await withRows([given])).get(PATH)
  expect(status).toBe(200)
  const data = [{ object: 'consumption_breakdown', ...fields }]
  const cursor = expect.any(String)
  expect(body).toEqual({ object: 'list', data, has_more: false, first_id: cursor, last_id: cursor })
})

test('fractional, zero and negative credits are returned unchanged', { tags: ['R054'] }, async () => {
  const credits = [0.1, 0, -3.75, 1e-9, 123456789.125]
  const emulator = await withRows(credits.map((each, n) => row(`row-${n}`, `-${n + 1}m`, { credits: each })))
  const { body } = await list(emulator)
  expect(body.data.map((each: { credits: number }) => each.credits)).toEqual(credits)
})

test.for([
  ['credits as a string', { credits: '1' }, 'credits'],
  ['no action', { action: undefined }, 'action'],
  ['a dollar amount', { amount: 3 }, 'amount'],
  ['an unknown organization', { _emulator: { organization_id: 'x' } }, '_emulator/organization_id'],
] as const)('%s is refused in fixtures', { tags: ['R054', 'R055'] }, async ([, change, member]) => {
  const refusal = new RegExp(`consumption_rows/0/${member}: `)
  await expect(withRows([row('row-0', '-1h', change)])).rejects.toThrow(refusal)
})

test('rows of the organization and its teamspaces are listed, no others', { tags: ['R162'] }, async () => {
  const facts = (organization_id: string, teamspace_id: string | null) => ({
    _emulator: { organization_id, teamspace_id },
  })
  const emulator = await withRows([
    row('own', '-1m', facts('org-1', 'ts-a')),
    row('sibling', '-2m', facts('org-1', 'ts-b')),
    row('whole', '-3m', facts('org-1', null)),
    row('foreign', '-4m', facts('org-2', 'ts-x')),
    row('foreign-whole', '-5m', facts('org-2', null)),
  ])
  for (const key of ['KU', 'KM', 'KS', 'K2'] as const)
    expect(resourcesOf(await emulator.get(PATH, { key }))).toEqual(['own', 'sibling', 'whole'])
  expect(resourcesOf(await emulator.get(PATH, { key: 'KO' }))).toEqual(['foreign', 'foreign-whole'])
})

const edges = [
  row('before', '2026-01-31T23:59:59.999Z'),
  row('midnight', '2026-02-01T00:00:00.000Z'),
  row('noon', '2026-02-01T12:00:00.000Z'),
  row('last', '2026-02-01T23:59:59.999Z'),
  row('fraction', '2026-02-01T23:59:59.9999Z'),
  row('next', '2026-02-02T00:00:00.000Z'),
]

test.for([
  ['a date-time as start is used exactly', '2026-02-01T00:00:00.001Z', '2026-02-01T12:00:00Z', 'noon'],
  ['a date-time as start is inclusive', '2026-02-01T12:00:00Z', '2026-02-01T13:00:00Z', 'noon'],
  ['one date is one day', '2026-02-01', '2026-02-01', 'fraction last noon midnight'],
  ['a date-time as end is inclusive', '2026-02-01T01:00:00Z', '2026-02-01T12:00:00.000Z', 'noon'],
  ['midnight as end is the next day', '2026-02-01T23:59:59Z', '2026-02-02T00:00:00Z', 'next fraction last'],
  ['offsets count', '2026-02-01T02:00:00+02:00', '2026-02-01T01:00:00+01:00', 'midnight'],
  ['a start after the end leaves no row', '2026-02-02', '2026-02-01', ''],
  ['without an offset it is UTC', '2026-02-01T12:00:00', '2026-02-01T12:00:00', 'noon'],
] as const)(
  '%s',
  { tags: ['R163', 'R164', 'T23', 'R165', 'R166', 'T24', 'U028'] },
  async ([, start_date, end_date, expected]) => {
    const emulator = await withRows(edges)
    expect(resourcesOf(await list(emulator, { start_date, end_date })).join(' ')).toBe(expected)
  },
)

test.for(['0', '2024-02-30', '2024-03', ''])('the date "%s" is refused', { tags: ['R166'] }, async (date) => {
  const emulator = await withRows(rows(1))
  for (const member of ['start_date', 'end_date']) {
    const response = await refused(emulator, () => list(emulator, { [member]: date }), 400)
    expect(pointersOf(response)).toEqual([`/query/${member}`])
  }
})

test('a cursor works after a restart, and beyond the last row', {
  tags: ['R007', 'R056', 'R057', 'R058', 'R168'],
}, async () => {
  const emulator = await withRows(rows(8))
  const { last_id } = (await list(emulator, { limit: '5' })).body
  const again = await emulator.restart()
  expect(resourcesOf(await list(again, { after: last_id }))).toEqual(['row-2', 'row-1', 'row-0'])
  for (const n of [0, 1, 2, 3, 4]) await again.control('DELETE', `/state/consumption_rows/row-${n}`)
  expect((await list(again, { after: last_id })).body).toEqual(EMPTY)
})

test('a row that is written between two pages shifts the second', { tags: ['R170'] }, async () => {
  const emulator = await withRows(rows(25))
  const first = await list(emulator, { limit: '10' })
  emulator.advance('1m')
  const fresh = { ...row('fresh', '2026-03-01T12:00:30.000Z'), object: 'consumption_breakdown' }
  change(emulator.sandbox, ({ tx }) => tx.put('consumption_rows', fresh))
  const second = await list(emulator, { limit: '10', after: first.body.last_id })
  expect(resourcesOf(second).slice(0, 2)).toEqual([resourcesOf(first).at(-1), 'row-14'])
})
