import { expect, test } from 'vitest'
import { type Column, cellStyles, fitting, nextSorting, sorted } from './columns.ts'

const column = (label: string, width?: number, spare?: number): Column<string> => ({
  label,
  cell: (row) => row,
  sortBy: (row) => row.length,
  ...(width !== undefined && { width }),
  ...(spare !== undefined && { spare }),
})

const columns = [column('path'), column('status', 80), column('caller', 100, 1), column('took', 70, 2)]
const shown = (width: number) => fitting(columns, width).map(({ label }) => label)

test('a narrow table leaves out the columns with the highest number first, and never those without one', () => {
  expect(shown(450)).toEqual(['path', 'status', 'caller', 'took'])
  expect(shown(449)).toEqual(['path', 'status', 'caller'])
  expect(shown(379)).toEqual(['path', 'status'])
  expect(shown(100)).toEqual(['path', 'status'])
})

test('a column that needs more room gets it before the columns that can be left out', () => {
  const [path, ...others] = columns
  const wide = [{ ...path, least: 280 } as Column<string>, ...others]
  expect(fitting(wide, 530)).toHaveLength(4)
  expect(fitting(wide, 529).map(({ label }) => label)).toEqual(['path', 'status', 'caller'])
})

test('clicks on the head of a column sort it ascending, then descending, then not at all', () => {
  const first = nextSorting('path', undefined)
  const second = nextSorting('path', first)
  expect([first, second, nextSorting('path', second)]).toEqual([
    { column: 'path', isDescending: false },
    { column: 'path', isDescending: true },
    undefined,
  ])
  expect(nextSorting('status', first)).toEqual({ column: 'status', isDescending: false })
})

test('rows with equal values keep their order in both directions', () => {
  const rows = ['bb', 'a', 'cc']
  expect(sorted(rows, columns, { column: 'path', isDescending: false })).toEqual(['a', 'bb', 'cc'])
  expect(sorted(rows, columns, { column: 'path', isDescending: true })).toEqual(['bb', 'cc', 'a'])
  expect(sorted(rows, columns, undefined)).toBe(rows)
})

test('a column is as wide as its numbers, texts with a width are cut when no px are left, and the rest is for the others', () => {
  const cut = { ...column('caller', 100), isCut: true }
  const styles = (width: number) => cellStyles([column('path'), column('status', 80), cut], width)
  expect(styles(380)).toEqual([
    { width: '100%', minWidth: '96px', maxWidth: '0' },
    { width: '80px' },
    { width: '100px', maxWidth: '100px' },
  ])
  expect(styles(430)[2]).toEqual({ width: '100px', maxWidth: '150px' })
})
