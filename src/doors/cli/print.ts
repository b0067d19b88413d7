import { isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import type { Invocation } from './invocation.ts'
import { OK } from './usage.ts'

/** Prints an answer: the data itself with `--json`, otherwise what it says in lines. */
export function show(
  { options, terminal }: Pick<Invocation<'json'>, 'options' | 'terminal'>,
  data: JsonObject,
  lines: readonly string[],
): number {
  terminal.out(options.json ? JSON.stringify(data) : lines.map(printable).join('\n'))
  return OK
}

/** Rows with their cells one below the other. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, cell.length)
  }
  return rows.map((row) =>
    row
      .map((cell, n) => cell.padEnd(widths[n] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

// Beside the characters that terminals obey, those that turn the direction of the text behind them.
const OBEYED = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** One line without what a terminal would obey: a path or a name may hold any character. */
export function printable(line: string): string {
  return line.replaceAll(OBEYED, (character) => {
    const quoted = JSON.stringify(character).slice(1, -1)
    // JSON escapes the first 32 characters alone.
    return quoted === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : quoted
  })
}

/** A text of several lines without what a terminal would obey. JSON stays the same JSON. */
export function harmless(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** The objects in a list that came as JSON; what is no list has none. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A member as a cell of a table; empty for what is not there. */
export function cell(value: Json | undefined): string {
  return value === undefined || value === null ? '' : String(value)
}
