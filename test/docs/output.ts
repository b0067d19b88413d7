import { stripVTControlCharacters } from 'node:util'
import { expect } from 'vitest'
import type { Block } from './pages.ts'

// What differs from run to run: instants, ids of sandboxes, ports, and real milliseconds.
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>'],
  [/\bw-[0-9a-f]{12}\b/g, '<sandbox>'],
  [/127\.0\.0\.1:\d+/g, '<host>'],
  [/\b[\d.]+ ?ms\b/g, '<ms>'],
]

/**
 * Expects that the lines of a block of output come in what a run printed, in this order. A line `...` stands for lines that are
 * left out, and `...` within a line for a part of it.
 */
export function expectOutput({ page, line, code }: Block, printed: string): void {
  const actual = plain(printed).split('\n')
  let from = 0
  for (const [index, text] of plain(code).trimEnd().split('\n').entries()) {
    if (text.trim() === '...' || text.trim() === '') continue
    const pattern = new RegExp(`^${text.trim().split('...').map(escaped).join('.*')}$`)
    const found = actual.findIndex((each, place) => place >= from && pattern.test(each.trim()))
    expect(
      found,
      `${page}:${line + index}: "${text}" is not in the output, or not in this order:\n${printed}`,
    ).not.toBe(-1)
    from = found + 1
  }
}

// Columns are as wide as their widest cell: any run of spaces is one.
function plain(text: string): string {
  return VARYING.reduce(
    (rest, [pattern, word]) => rest.replace(pattern, word),
    stripVTControlCharacters(text).replace(/ +/g, ' '),
  )
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
