import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody } from '../support/sample-calls.ts'

interface Refused {
  readonly message: string
  readonly details: { readonly errors: readonly { readonly pointer: string; readonly detail: string }[] }
}

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
  const emulator = await testEmulator()
  const { status, body: refusal } = await emulator.control(method, path, body)
  expect(status).toBe(400)
  const { errors } = (refusal as Refused).details
  expect(errors.length).toBeLessThanOrEqual(101)
  expect(JSON.stringify(refusal).length).toBeLessThan(50_000)
})

test('the response says how many more problems there are', async () => {
  const emulator = await testEmulator()
  const body = (await emulator.control('PATCH', '/settings', unknown)).body as Refused
  expect(body.message).toMatch(/^20000 fields are not valid: .*, and 19979 more\)$/)
  expect(body.details.errors).toHaveLength(101)
  expect(body.details.errors.at(-1)?.detail).toMatch(/^19900 more problems are not listed\./)
})

test('a document that refers to records which were not checked has no problem about them', async () => {
  const emulator = await testEmulator()
  const document = (await emulator.control('GET', '/state')).body as { collections: object }
  const collections = { ...document.collections, teamspaces: empty }
  const body = (await emulator.control('PUT', '/state', { ...document, collections })).body as Refused
  expect(
    body.details.errors.filter(({ pointer }) => !/^(\/collections\/teamspaces\/|$)/.test(pointer)),
  ).toEqual([])
})

test('125,000 wrong values in the metadata of a batch are refused with 400', async () => {
  const emulator = await testEmulator()
  const metadata = Object.fromEntries(Array.from({ length: 125_000 }, (_, n) => [`k${n}`, 1]))
  const wrong = await emulator.post('/batch-predictions', { ...batchBody(), metadata })
  expect(wrong.status).toBe(400)
  expect(wrong.text.length).toBeLessThan(50_000)
})

test('no problem of a setting ends with two full stops', async () => {
  const emulator = await testEmulator()
  const keys = Object.keys(((await emulator.control('GET', '/settings')).body as { values: object }).values)
  const wrong = await Promise.all(
    keys.map((key) => emulator.control('PATCH', '/settings', { [key]: { odd: [{ odd: 1 }] } })),
  )
  expect(wrong.filter(({ status }) => status === 400).length).toBeGreaterThan(50)
  for (const { text } of wrong) expect(text).not.toMatch(/[^.]\.\.(?:\s|")/)
})
