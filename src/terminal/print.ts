import { createRequire } from 'node:module'
import { styleText } from 'node:util'
import { once } from '../core/once.ts'
import { printable } from '../core/quoted.ts'
import { OK, type Terminal } from './command.ts'
import { type Line, type Screen, type Style, Styled, styled, type TextTable } from './line.ts'

// Loaded with the first table or long line, which a start of the emulator does not print.
const load = createRequire(import.meta.url)
const wrapper = once(() => (load('wrap-ansi') as typeof import('wrap-ansi')).default)
const measure = once(() => (load('string-width') as typeof import('string-width')).default)

/** The columns that a text takes in a terminal: a Chinese character takes two, a combining one none. */
function columnsOf(text: string): number {
  return ASCII.test(text) ? text.length : measure()(text)
}

const ASCII = /^[ -\x7e]*$/

/** Prints a result: with `--json` its data, otherwise its lines. */
export function show(
  { options, terminal }: { readonly options: { readonly json: boolean }; readonly terminal: Terminal },
  data: object,
  lines: readonly Line[],
): number {
  if (options.json) terminal.out(JSON.stringify(data))
  else if (lines.length > 0) terminal.lines(lines)
  return OK
}

/** A line as a terminal shows it. Control characters are escaped before styles are added, which are control characters too. */
export function rendered(line: Line, screen: Screen): string {
  if (typeof line !== 'string' && 'rows' in line) return tableLines(line, screen).join('\n')
  const parts = typeof line === 'string' || line instanceof Styled ? [line] : line
  let start = 0
  return parts
    .map((part) => {
      const { text, style } = escaped(part)
      const before = start
      start += columnsOf(text)
      if (style === undefined) return wrapped(text, before, screen.width)
      // Whether colours are wanted is decided once, in `screen`, since versions of Node differ in what they check.
      return screen.colours ? styleText(style, text, { validateStream: false }) : text
    })
    .join('')
}

// Texts that are copied as a whole: JSON and commands. Line ends that a terminal adds itself are not copied.
const COPIED = /^\s*(?:Again: )?(?:[{["\]}]|curl |docker |node |np[mx] |workspace-emulator )/

/** A sentence that continues below its own beginning. @param start the column of its first character */
function wrapped(text: string, start: number, width = Number.POSITIVE_INFINITY): string {
  if (start + columnsOf(text) <= width || COPIED.test(text)) return text
  const head = /^(?:.*\s{2})?\s*/.exec(text.slice(0, width / 2))?.[0] ?? ''
  const indent = start + columnsOf(head)
  const rest = text.slice(head.length)
  const room = Math.max(MIN_WIDTH, width - indent)
  // The method and the path of a request, for example: a line end before the path would not make it fit.
  if (unbroken(rest).length === 1 && rest.split(' ').some((word) => ASCII.test(word) && word.length > room))
    return text
  const lines = filled(rest, room)
  return head + lines.join(`\n${' '.repeat(indent)}`)
}

/** Words in lines of a width. A longer word, such as a URL, has a line of its own, but Japanese text has no blanks: it is cut. */
function filled(text: string, width: number): string[] {
  const hard = text.split(' ').some((word) => !ASCII.test(word) && columnsOf(word) > width)
  return wrapper()(text, width, { hard }).split('\n')
}

/** A table with a title for each column. */
export function table(head: readonly string[], rows: readonly (readonly unknown[])[]): Line[] {
  return [{ head, rows: rows.map((row) => row.map(cellOf)) }]
}

/** Rows as lines with aligned columns. */
export function columns(rows: readonly (readonly unknown[])[]): Line[] {
  return table([], rows)
}

/** The fewest characters in a line of a wrapped column, and the space between two columns. */
const [MIN_WIDTH, GAP] = [14, 2]

/** A cell of more words is wrapped where it is too wide; one of fewer, such as a URL, is copied and stays whole. */
const MAX_WORDS = 4

function tableLines({ head, rows }: TextTable, screen: Screen): string[] {
  const titles = head.length === 0 ? [] : [head.map((text) => styled('bold', text))]
  const cells = [...titles, ...rows].map((row) => row.map(escaped))
  const limit = screen.width ?? Number.POSITIVE_INFINITY
  const widths = fitted(cells, limit, head.length > 0)
  if (head.length > 0 && sum(widths) > limit) return records(head, rows, screen)
  return cells.flatMap((row) => {
    const pieces = row.map(({ text }, n) =>
      unbroken(text).length > 1 ? filled(text, widths[n] ?? 0) : [text],
    )
    return Array.from({ length: most(pieces.map(({ length }) => length)) }, (_, k) =>
      row
        .map(({ style }, n) => {
          const text = pieces[n]?.[k] ?? ''
          const space = ' '.repeat(Math.max(0, (widths[n] ?? 0) - columnsOf(text)) + GAP)
          return (style === undefined || text === '' ? text : rendered(styled(style, text), screen)) + space
        })
        .join('')
        .trimEnd(),
    )
  })
}

/** A table that is too wide for the terminal: a line for each cell. */
function records(head: readonly string[], rows: TextTable['rows'], screen: Screen): string[] {
  const width = widest(head) + GAP
  return rows.flatMap(([first = '', ...others]) => [
    rendered(styled('bold', escaped(first).text), screen),
    ...others.flatMap((cell, n) =>
      escaped(cell).text === ''
        ? []
        : rendered([styled('dim', `  ${(head[n + 1] ?? '').padEnd(width)}`), cell], screen),
    ),
  ])
}

function escaped(cell: string | Styled): { readonly text: string; readonly style?: Style } {
  return typeof cell === 'string' ? { text: printable(cell) } : { ...cell, text: printable(cell.text) }
}

/**
 * The widths of columns in a terminal: the widest ones are reduced, as far as each cell stays whole. Without titles, a URL in
 * the last column may exceed the width, so that the sentences in it still fit.
 */
function fitted(rows: readonly (readonly { readonly text: string }[])[], width: number, isTitled: boolean) {
  const texts = Array.from({ length: most(rows.map(({ length }) => length)) }, (_, n) =>
    rows.map((row) => row[n]?.text ?? ''),
  )
  const widths = texts.map(widest)
  const least = texts.map((cells, n) =>
    isTitled || n < texts.length - 1 ? widest(cells.flatMap(unbroken)) : 0,
  )
  const reduced = (limit: number) => widths.map((each, n) => Math.max(least[n] ?? 0, Math.min(each, limit)))
  let limit = Math.max(MIN_WIDTH, most(widths))
  while (limit > MIN_WIDTH && sum(reduced(limit)) > width) limit -= 1
  return reduced(limit)
}

/** The parts of a cell that stay on one line. */
function unbroken(text: string): string[] {
  const words = text.split(' ')
  return words.length > MAX_WORDS ? words : [text]
}

/** The columns of the widest of some texts. */
function widest(texts: readonly string[]): number {
  return most(texts.map(columnsOf))
}

function most(numbers: readonly number[]): number {
  return numbers.reduce((greatest, each) => Math.max(greatest, each), 0)
}

/** The width of a table with columns of these widths. */
function sum(widths: readonly number[]): number {
  return widths.reduce((total, each) => total + each + GAP, -GAP)
}

/** Maximum number of characters of a value that is neither text nor number; `--json` has all of it. */
const MAX_VALUE = 100

/**
 * Any output as lines: a list as a table, an object as one line for each field.
 * @param names the columns; absent: the fields of the records that are neither lists nor objects
 * @param none the line for an empty list
 */
export function linesOf(output: object | undefined, names?: readonly string[], none = 'There are none.') {
  if (output === undefined) return ['Done.']
  const { data } = output as { readonly data?: unknown }
  if (!Array.isArray(data)) return columns(Object.entries(output).filter(([name]) => name !== 'object'))
  if (data.length === 0) return [none]
  const records: readonly Readonly<Record<string, unknown>>[] = data
  const all = names === undefined ? records.flatMap(Object.entries) : []
  const plain = all.filter(([name, value]) => name !== 'object' && Object(value) !== value)
  const shown = names ?? [...new Set(plain.map(([name]) => name))]
  const head = shown.map((name) => name.toUpperCase().replaceAll('_', ' '))
  const rows = records.map((record) =>
    shown.map((name) => (name === 'status' ? statusCell(record[name]) : record[name])),
  )
  return table(head, rows)
}

function cellOf(value: unknown): string | Styled {
  if (value instanceof Styled || typeof value === 'string') return value
  return value === null || value === undefined ? '' : shortened(textOf(value))
}

/** A value on one line: a text itself, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

const STATUS_STYLES: readonly (readonly [Style, RegExp])[] = [
  ['red', /^(?:5\d\d|cut|failed|errored|expired|problem|broken)$/],
  ['yellow', /^(?:4\d\d|cancell?ed|cancell?ing|waiting|dropped)$/],
  ['cyan', /^3\d\d$/],
  ['green', /^(?:2\d\d|completed|delivered|succeeded|ok)$/],
]

/** A status in the colour of its meaning: a status of HTTP, 0 for a request that was cut off, or a word. */
export function statusCell(status: unknown): Styled | string {
  const text = status === 0 ? 'cut' : textOf(status)
  const style = STATUS_STYLES.find(([, pattern]) => pattern.test(text))?.[0]
  return style === undefined ? text : styled(style, text)
}

/** A document as indented JSON. */
export function prettyLines(document: object): string[] {
  return JSON.stringify(document, null, 2).split('\n')
}

export function shortened(json: string): string {
  return json.length > MAX_VALUE ? `${json.slice(0, MAX_VALUE)}\u2026` : json
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
