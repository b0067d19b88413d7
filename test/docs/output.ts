import { stripVTControlCharacters } from 'node:util'
import { expect } from 'vitest'
import type { Block } from './pages.ts'

// Values that differ from run to run: instants, ids of sandboxes, ports, and real milliseconds.
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<instant>'],
  [/\bw-[0-9a-f]{12}\b/g, '<sandbox>'],
  [/127\.0\.0\.1:\d+/g, '<host>'],
  [/\b[\d.]+ ?ms\b/g, '<ms>'],
]

/**
 * Expects that the lines of a block of output occur in the output of a run, in this order. A line `...` stands for omitted
 * lines, and `...` within a line for omitted text.
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

// The width of columns depends on their content, so several spaces count as one.
function plain(text: string): string {
  return VARYING.reduce(
    (rest, [pattern, word]) => rest.replace(pattern, word),
    stripVTControlCharacters(text).replace(/ +/g, ' '),
  )
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
