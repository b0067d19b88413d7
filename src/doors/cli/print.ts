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

/** One line without what a terminal would obey: a path or a name may hold any character. */
export function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))
}

/** The objects in a list that came as JSON; what is no list has none. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A member as a cell of a table; empty for what is not there. */
export function cell(value: Json | undefined): string {
  return value === undefined || value === null ? '' : String(value)
}
