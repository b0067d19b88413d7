import { expect, test } from 'vitest'
import { packageVersion } from '../../src/adapters/package.ts'
import { controlEmulator } from '../support/control-emulator.ts'

const JANUARY = '2026-01-01T00:00:00.000Z'

test('health and index have the version of the contract', { tags: ['R286'] }, async () => {
  const emulator = await controlEmulator()
  const versions = { version: packageVersion(), contract_version: '0.1.1' }
  const { body } = await emulator.call('GET', '/health')
  expect(body).toEqual({ status: 'ok', ...versions, problem: null, storage: [] })
  expect((await emulator.call('GET', '')).body.contract_version).toBe('0.1.1')
})

test('reset accepts other fixtures, another seed and another instant', async () => {
  const emulator = await controlEmulator()
  const fixtures = {
    collections: { shelves: [{ id: 'only', name: 'Only', note: null, created_at: '-1d' }] },
    generate: { books: 3 },
  }
  const body = { fixtures, seed: 42, clock: '2030-01-02T00:00:00.000Z' }
  const response = await emulator.call('POST', '/reset', body)
  const records = { shelves: 1, books: 3, api_keys: 0 }
  expect(response.body).toMatchObject({ seed: 42, now: '2030-01-02T00:00:00.000Z', records })
  const { data } = (await emulator.call('GET', '/state/shelves')).body
  expect(data[0].created_at).toBe('2030-01-01T00:00:00.000Z')
})

test('fixtures are merged into the sandbox: new records, replaced ones, relative timestamps', async () => {
  const emulator = await controlEmulator()
  await emulator.call('POST', '/clock/advance', { by: '1h' })
  const collections = {
    shelves: [
      { id: 's2', name: 'Charts', note: null, created_at: JANUARY },
      { id: 's3', name: 'Plays', note: null, created_at: '-30m' },
    ],
    books: [{ id: 'b2', shelf_id: 's3', title: 'Storm', lock: 'sesame', created_at: '-1d' }],
  }
  const response = await emulator.call('POST', '/fixtures', { collections })
  expect([response.status, response.body]).toEqual([200, { written: { shelves: 2, books: 1 } }])
  expect(emulator.sandbox.store.rows('shelves').size).toBe(3)
  expect((await emulator.call('GET', '/state/shelves/s2')).body.name).toBe('Charts')
  expect((await emulator.call('GET', '/state/shelves/s3')).body.created_at).toBe('2026-03-01T12:30:00.000Z')
  expect((await emulator.call('GET', '/state/books/b2')).body.lock).toMatch(/^sha256:/)
  expect((await emulator.call('GET', '/clock')).body.now).toBe('2026-03-01T13:00:00.000Z')
})

test('generated records are always the same for the same sandbox, and never reuse an id that exists', async () => {
  const make = async () => {
    const emulator = await controlEmulator()
    const generate = async () => (await emulator.call('POST', '/fixtures', { generate: { books: 2 } })).body
    expect(await generate()).toEqual({ written: { books: 2 } })
    // Without two other records, the sandbox has the number of records that it had when the ids were chosen.
    for (const id of ['k1', 'k2']) await emulator.call('DELETE', `/state/api_keys/${id}`)
    expect(await generate()).toEqual({ written: { books: 2 } })
    return [...emulator.sandbox.store.rows('books').values()]
  }
  const [first, second] = [await make(), await make()]
  expect(first).toHaveLength(5)
  expect(second).toEqual(first)
})
