import { type Invocation, OK } from './command.ts'

/** Prints a result: with `--json` its data, otherwise its lines. */
export function show(
  { options, terminal }: Pick<Invocation<'json'>, 'options' | 'terminal'>,
  data: object,
  lines: readonly string[],
): number {
  terminal.out(options.json ? JSON.stringify(data) : lines.map(printable).join('\n'))
  return OK
}

/** Rows as lines with aligned columns. */
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

/** Maximum number of characters of a value that is neither text nor number; `--json` has all of it. */
const MAX_VALUE = 100

/**
 * Any output as lines: a list as a table, an object as one line for each field.
 * @param names the columns; absent: the fields of the records that are neither lists nor objects
 */
export function linesOf(output: object | undefined, names?: readonly string[]): string[] {
  if (output === undefined) return ['Done.']
  if (!('data' in output) || !Array.isArray(output.data)) return columns(fieldsOf(output))
  const records = output.data as readonly Readonly<Record<string, unknown>>[]
  const shown = names ?? [...new Set(records.flatMap(plainFields))]
  if (records.length === 0) return ['There are none.']
  const head = shown.map((name) => name.toUpperCase().replaceAll('_', ' '))
  return columns([head, ...records.map((record) => shown.map((name) => valueText(record[name])))])
}

function plainFields(record: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(record).filter((name) => name !== 'object' && Object(record[name]) !== record[name])
}

function fieldsOf(output: object): string[][] {
  return Object.entries(output)
    .filter(([name]) => name !== 'object')
    .map(([name, value]) => [name, valueText(value)])
}

/** A value in a cell, on one line. */
function valueText(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  return value === null || value === undefined ? '' : shortened(JSON.stringify(value))
}

/** A document as indented JSON. */
export function prettyLines(document: object): string[] {
  return JSON.stringify(document, null, 2).split('\n')
}

export function shortened(json: string): string {
  return json.length > MAX_VALUE ? `${json.slice(0, MAX_VALUE)}…` : json
}

// Control characters, and the characters that change the direction of the text after them.
const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** One line with control characters escaped: a path or a name may hold any character. */
export function printable(line: string): string {
  return line.replaceAll(CONTROL, (character) => {
    const quoted = JSON.stringify(character).slice(1, -1)
    // JSON escapes only the first 32 characters.
    return quoted === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : quoted
  })
}

/** A text of several lines with control characters escaped. JSON keeps its value. */
export function harmless(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** A field as a cell of a table; empty for null and absent fields. */
export function cell(value: string | number | null | undefined): string {
  return value === undefined || value === null ? '' : String(value)
}

/** The code of a system error, such as `EACCES`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/** An error and the place in our code that threw it, on one line. */
export function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const place = /\n\s+at (.+)/.exec(error.stack ?? '')?.[1]
  return `${error.name}: ${error.message}${place === undefined ? '' : ` (at ${place})`}`.replaceAll('\n', ' ')
}
