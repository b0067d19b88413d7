import { expect, test } from 'vitest'
import { readItems } from './items.ts'

const FORM = { file: 'file_id', emptyIds: false, refuseUnknown: false }

function read(value: unknown, form = FORM) {
  const complaints: string[] = []
  const items = readItems(value, form, (path, detail, id) =>
    complaints.push(`/${path.map(String).join('/')} ${detail}${id === undefined ? '' : ` (${id})`}`),
  )
  return { items, complaints }
}

test('items are kept with fixed names, and unknown fields are left out', () => {
  const raw = [
    { custom_id: 'a', document: 'f1', page: 3, extra: true },
    { custom_id: 'b', document: 'f2' },
  ]
  expect(read(raw, { ...FORM, file: 'document' })).toEqual({
    items: [
      { custom_id: 'a', file_id: 'f1', page: 3 },
      { custom_id: 'b', file_id: 'f2' },
    ],
    complaints: [],
  })
})

test('every issue of every item is reported, with the custom_id of the item', () => {
  const raw = [null, {}, { custom_id: 'x', file_id: '', page: '1' }, { custom_id: 7, file_id: 'f' }]
  expect(read(raw).complaints).toEqual([
    '/0 must be an object',
    '/1/custom_id is required',
    '/1/file_id is required',
    '/2/file_id must be the id of a file: a string that is not empty (x)',
    '/2/page must be an integer from 1, or be left out (x)',
    '/3/custom_id must be a string',
  ])
})

test('a list that is far too long is one issue, not one for each item', () => {
  expect(read(Array.from({ length: 100_000 }, () => null)).complaints).toEqual([
    '/ must have 1 to 5000 items, and has 100000',
  ])
})

test('5,000 items are read in less than 10 ms', () => {
  const raw = Array.from({ length: 5_000 }, (_, n) => ({ custom_id: `invoice-${n}`, file_id: 'f', page: 1 }))
  for (let n = 0; n < 20; n++) read(raw)
  const before = process.cpuUsage()
  for (let n = 0; n < 20; n++) read(raw)
  const { user, system } = process.cpuUsage(before)
  // Measured 0.5 ms; the bound leaves room for slow machines.
  expect((user + system) / 1_000 / 20).toBeLessThan(10)
})
