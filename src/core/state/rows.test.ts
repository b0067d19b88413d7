import { expect, test } from 'vitest'
import * as z from 'zod'
import { serviceFaults } from '../../service.ts'
import { Settings } from '../assumptions.ts'
import type { Resource } from '../service.ts'
import { service } from '../service.ts'
import { collection } from './collection.ts'
import { checkInsertRows } from './rows.ts'

const boxes = collection({
  name: 'boxes',
  label: 'box',
  schema: () =>
    z.strictObject({ id: z.string().min(1), size: z.number().int(), created_at: z.iso.datetime() }),
})

const locks = collection({
  name: 'locks',
  label: 'lock',
  secrets: ['code'],
  schema: () => z.strictObject({ id: z.string().min(1), code: z.string() }),
})

const resource: Resource = { name: 'boxes', operations: [], collections: [boxes, locks] }
const shop = service([resource], serviceFaults)

function check(insert_rows: unknown) {
  return checkInsertRows({ insert_rows }, shop, new Settings()).map(({ pointer }) => pointer)
}

test('records that the collection takes are right, with and without an id and an instant', () => {
  const whole = { id: 'a', size: 1, created_at: '2026-03-01T12:00:00.000Z' }
  expect(check({ collection: 'boxes', records: [whole, { size: 2 }, { id: 'b', size: 3 }] })).toEqual([])
})

test('what is wrong with a record is told at its place', () => {
  const records = [
    { size: 1 },
    { id: '', size: 'large' },
    7,
    { size: 1, created_at: 'now' },
    { size: 1, colour: 'red' },
  ]
  expect(check({ collection: 'boxes', records })).toEqual([
    '/insert_rows/records/1/id',
    '/insert_rows/records/1/size',
    '/insert_rows/records/2',
    '/insert_rows/records/3/created_at',
    '/insert_rows/records/4/colour',
  ])
})

test('records with secrets can be given, but not made up', () => {
  expect(check({ collection: 'locks', records: [{ code: '1234' }] })).toEqual([])
  const [issue] = checkInsertRows({ insert_rows: { collection: 'locks', count: 2 } }, shop, new Settings())
  expect(issue).toEqual({
    pointer: '/insert_rows/count',
    detail: 'cannot be given for locks, whose code nobody can make up; give records',
  })
})

test('records that could be made up, and faults that insert none, are not its business', () => {
  expect(check({ collection: 'boxes', count: 2 })).toEqual([])
  expect(check({ collection: 'nowhere', records: [7] })).toEqual([])
  expect([check(undefined), check(7), checkInsertRows(null, shop, new Settings())]).toEqual([[], [], []])
})
