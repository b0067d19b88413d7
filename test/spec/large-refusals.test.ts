import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody } from '../support/sample-calls.ts'

const MANY = 20_000

const empty = Array.from({ length: MANY }, () => ({}))
const unknown = Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`batch.k${n}`, 1]))

test.for<[title: string, method: string, path: string, body: object]>([
  ['empty records of a state', 'PUT', '/state', { collections: { pages: empty } }],
  ['empty records of fixtures', 'POST', '/fixtures', { collections: { pages: empty } }],
  ['empty records of a reset', 'POST', '/reset', { fixtures: { collections: { pages: empty } } }],
  ['entries of core’s own lists', 'PUT', '/state', { schedule: empty }],
  ['unknown settings of a state', 'PUT', '/state', { settings: unknown }],
  ['unknown settings', 'PATCH', '/settings', unknown],
  ['unknown collections', 'POST', '/fixtures', { collections: unknown }],
  ['unknown members of a state', 'PUT', '/state', unknown],
  ['wrong rules', 'PUT', '/state', { faults: empty }],
  ['wrong actions of a rule', 'POST', '/faults', { match: {}, do: empty }],
  ['wrong steps', 'PUT', '/state', { scenario: { timeline: empty } }],
  ['stubs of fixtures', 'POST', '/fixtures', { stubs: empty }],
])('a document with many %s is refused with at most 100 problems', async ([, method, path, body]) => {
  const { control } = await testEmulator()
  const refused = await control(method, path, body)
  expect(refused.status).toBe(400)
  expect(refused.body.details.errors.length).toBeLessThanOrEqual(101)
  expect(refused.text.length).toBeLessThan(50_000)
})

test('the response says how many more problems there are', async () => {
  const { control } = await testEmulator()
  const { message, details } = (await control('PATCH', '/settings', unknown)).body
  expect(message).toMatch(/^20000 fields are not valid: .*, and 19979 more\)$/)
  expect(details.errors).toHaveLength(101)
  expect(details.errors.at(-1).detail).toMatch(/^19900 more problems are not listed\./)
})

test('a document that refers to records which were not checked has no problem about them', async () => {
  const { control } = await testEmulator()
  const { body: document } = await control('GET', '/state')
  const collections = { ...document.collections, teamspaces: empty }
  const { details } = (await control('PUT', '/state', { ...document, collections })).body
  const pointers: string[] = details.errors.map(({ pointer }: { pointer: string }) => pointer)
  expect(pointers.filter((each) => !/^(\/collections\/teamspaces\/|$)/.test(each))).toEqual([])
})

test('125,000 wrong values in the metadata of a batch are refused with 400', async () => {
  const emulator = await testEmulator()
  const metadata = Object.fromEntries(Array.from({ length: 125_000 }, (_, n) => [`k${n}`, 1]))
  const wrong = await emulator.post('/batch-predictions', { ...batchBody(), metadata })
  expect(wrong.status).toBe(400)
  expect(wrong.text.length).toBeLessThan(50_000)
})

test('no problem of a setting ends with two full stops', async () => {
  const { control } = await testEmulator()
  const keys = Object.keys((await control('GET', '/settings')).body.values)
  const changes = keys.map((key) => control('PATCH', '/settings', { [key]: { odd: [{ odd: 1 }] } }))
  const wrong = await Promise.all(changes)
  expect(wrong.filter(({ status }) => status === 400).length).toBeGreaterThan(50)
  for (const { text } of wrong) expect(text).not.toMatch(/[^.]\.\.(?:\s|")/)
})
