import { expect, test } from 'vitest'
import {
  batchEmulator,
  bring,
  counts,
  createBatch,
  linesOf,
  retrieve,
  someItems,
  stamps,
} from '../../support/batches.ts'

test.for([
  ['an unknown file', { file_id: 'nobody' }, 'There is no file with the id "nobody".'],
  ['a file of another teamspace', { file_id: 'file-elsewhere' }, 'There is no file with the id'],
  ['a file that cannot be accessed', { file_id: 'file-locked' }, 'cannot be accessed'],
  ['a type that batches do not take', { file_id: 'file-archive' }, 'archive'],
  ['a page of a format without pages', { file_id: 'file-sheet', page: 1 }, 'has no pages'],
  ['a page beyond the last', { page: 11 }, 'has 10 pages, not 11'],
] as const)('%s: the batch fails', { tags: ['R103', 'R106', 'R272', 'T12'] }, async ([, change, reason]) => {
  const emulator = await batchEmulator()
  const items = [...someItems(2), { custom_id: 'bad', file_id: 'file-pdf', ...change }]
  const { id } = await createBatch(emulator, { items })
  emulator.advance('2s')
  const batch = await retrieve(emulator, id)
  expect([batch.status, stamps(batch)]).toEqual(['failed', { failed_at: 2 }])
  expect(batch.error.detail).toContain(reason)
  expect(batch.error.detail).toContain('/items/2 (custom_id "bad")')
  expect(counts(batch)).toEqual({ total: 3, errored: 3 })
  const lines = await linesOf(emulator, id)
  expect(lines[2].error.detail).toContain(reason)
  expect(lines[0].error.detail).toContain('1 item is invalid')
})

test('the last page, and a sheet without a page, validate', { tags: ['R103', 'R272'] }, async () => {
  const emulator = await batchEmulator()
  const last = { custom_id: 'last', file_id: 'file-pdf', page: 10 }
  const { id } = await createBatch(emulator, { items: [last, { custom_id: 'sheet', file_id: 'file-sheet' }] })
  await bring(emulator, id, 'in_progress')
})

test('a setting makes only the invalid item errored', { tags: ['U055'] }, async () => {
  const emulator = await batchEmulator({ 'batch.validation': 'item' })
  const items = [...someItems(2), { custom_id: 'bad', file_id: 'nobody' }]
  const { id } = await createBatch(emulator, { items })
  const batch = await bring(emulator, id, 'completed')
  expect(counts(batch)).toEqual({ total: 3, succeeded: 2, errored: 1 })
  const lines = await linesOf(emulator, id)
  expect(lines[2].error).toMatchObject({ detail: 'There is no file with the id "nobody".', status: 422 })
})

test('a setting accepts unknown files, but no pages beyond the last', { tags: ['U039'] }, async () => {
  const emulator = await batchEmulator({ 'batch.unknown_files': 'accept' })
  const good = await createBatch(emulator, { items: [{ custom_id: 'a', file_id: 'nobody', page: 7 }] })
  const bad = await createBatch(emulator, { items: [{ custom_id: 'a', file_id: 'file-pdf', page: 11 }] })
  emulator.advance('2s')
  expect((await retrieve(emulator, good.id)).status).toBe('in_progress')
  expect((await retrieve(emulator, bad.id)).status).toBe('failed')
})
