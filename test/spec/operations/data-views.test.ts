import { expect, test } from 'vitest'
import { setSettings } from '../../../src/core/sandboxes/change.ts'
import { type TestResponse, testEmulator } from '../../support/emulator.ts'
import { refused } from '../../support/refusal.ts'

const view = (n: number, change: object = {}) => ({
  id: `view-${n}`,
  dataset_name: `dataset_${n}`,
  created_at: new Date(Date.parse('2026-01-01T00:00:00Z') + n * 1000).toISOString(),
  knowledge_id: `k-${n % 2}`,
  service_account_id: `s-${n % 3}`,
  _emulator: { teamspace_id: 'ts-a' },
  ...change,
})

const views = (count: number) => Array.from({ length: count }, (_, n) => view(n))
const idsOf = ({ body }: TestResponse): string[] => body.data.map(({ id }: { id: string }) => id)
const newest = (...numbers: number[]) => numbers.map((n) => `view-${n}`)

test('list and items have exactly their fields', { tags: ['R006', 'R059', 'R060', 'R181'] }, async () => {
  const emulator = await testEmulator({ collections: { data_views: views(1) } })
  const { body, assumed } = await emulator.get('/data-views')
  const { _emulator: _, dataset_name, ...others } = view(0)
  const shown = { object: 'data_view', warehouse_dataset_name: dataset_name, ...others }
  expect([body, assumed]).toEqual([{ object: 'list', data: [shown] }, ['U006']])
})

test('the configured word is in the field of the dataset', { tags: ['R059', 'U006'] }, async () => {
  const { dataset_name: _, ...rest } = view(1)
  const emulator = await testEmulator({
    collections: { data_views: [view(0), { ...rest, lake_dataset_name: 'dataset_1' }] },
    settings: { 'names.warehouse': 'lake' },
  })
  const named = [{ lake_dataset_name: 'dataset_1' }, { lake_dataset_name: 'dataset_0' }]
  expect((await emulator.get('/data-views')).body.data).toMatchObject(named)
  setSettings(emulator.sandbox, {})
  expect((await emulator.get('/data-views')).body.data[0].warehouse_dataset_name).toBe('dataset_1')
  expect((await (await emulator.restart()).get('/data-views')).body.data).toHaveLength(2)
})

test.for([
  ['neither name of the dataset', { dataset_name: undefined }, 'dataset_name'],
  ['both names of the dataset', { warehouse_dataset_name: 'x' }, 'warehouse_dataset_name'],
  ['a knowledge_id that is no string', { knowledge_id: 1 }, 'knowledge_id'],
  ['a created_at that is no timestamp', { created_at: 'yesterday' }, 'created_at'],
  ['a teamspace that does not exist', { _emulator: { teamspace_id: 'x' } }, '_emulator/teamspace_id'],
] as const)('a fixture with %s is refused', { tags: ['R059'] }, async ([, change, member]) => {
  await expect(testEmulator({ collections: { data_views: [view(0, change)] } })).rejects.toThrow(
    new RegExp(`data_views/0/${member}: `),
  )
})

test.for([
  ['knowledge_id alone', 'knowledge_id=k-1', newest(5, 3, 1)],
  ['service_account_id alone', 'service_account_id=s-0', newest(3, 0)],
  ['both together', 'knowledge_id=k-1&service_account_id=s-0', newest(3)],
  ['an offset, which applies to the filtered views', 'knowledge_id=k-1&offset=1&limit=2', newest(3, 1)],
  ['no match', 'knowledge_id=k-9', []],
  ['an empty filter is compared like any other', 'knowledge_id=', []],
  ['no filter', '', newest(5, 4, 3, 2, 1, 0)],
] as const)('%s', { tags: ['R178', 'R180'] }, async ([, query, expected]) => {
  const emulator = await testEmulator({ collections: { data_views: views(6) } })
  expect(idsOf(await emulator.get(`/data-views?${query}`))).toEqual(expected)
})

test('views of other teamspaces are not listed', { tags: ['R007', 'R178', 'R182'] }, async () => {
  const other = view(1, { _emulator: { teamspace_id: 'ts-b' } })
  const emulator = await testEmulator({ collections: { data_views: [view(0), other] } })
  expect(idsOf(await emulator.get('/data-views', { key: 'K2' }))).toEqual(['view-1'])
  expect((await emulator.get('/data-views', { key: 'KO' })).body).toEqual({ object: 'list', data: [] })
})

test('offset k and limit n give the slice from k to k + n', { tags: ['R180', 'R181'] }, async () => {
  const emulator = await testEmulator({ collections: { data_views: views(30) } })
  const all = idsOf(await emulator.get('/data-views?limit=100'))
  for (const [offset, limit] of [
    [0, 30],
    [0, 100],
    [7, 5],
    [29, 1],
    [29, 2],
    [30, 1],
    [100_000, 1],
  ] as const)
    expect(idsOf(await emulator.get(`/data-views?offset=${offset}&limit=${limit}`))).toEqual(
      all.slice(offset, offset + limit),
    )
})

const BAD_OFFSETS = '-1 100001 1.5 abc 1e2 0x1 %201 00 1&offset=2'.split(' ')

test.for([
  ...['', ...BAD_OFFSETS].map((offset) => `offset=${offset}`),
  'knowledge_id=a&knowledge_id=b',
  'service_account_id=a&service_account_id=b',
])('the query %s is refused', { tags: ['R178', 'R180', 'R284'] }, async (query) => {
  const emulator = await testEmulator()
  await refused(emulator, () => emulator.get(`/data-views?${query}`), 400, 'validation_failed')
})
