import { z } from 'zod'
import type { ParametersOf } from '../../../core/faults/primitive.ts'
import { intBetween } from '../../../core/fields.ts'
import { Chance } from '../../../core/random.ts'
import { either, form, someOf, strictObject } from '../../../core/strict-input.ts'
import type { Draft } from './draft.ts'
import { anyText } from './fields.ts'
import { bodyPosition, offsetOf } from './stage.ts'
import type { WirePrimitive } from './wire-primitive.ts'

/** Changes the lines of an NDJSON body, in the order of the fields here. Lines are counted from 0. */
export type LinesFault = ParametersOf<typeof schema>

function schema() {
  const line = () => intBetween(0, 1_000_000)
  const numbers = () => z.array(line()).max(10_000)
  const texts = () => z.array(strictObject({ at: line(), text: anyText() })).max(1_000)
  const order = either<'reverse' | 'shuffle' | readonly number[]>(
    'must be "reverse", "shuffle", or the numbers of the lines in their new order',
    form.text(z.enum(['reverse', 'shuffle'])),
    form.list(numbers()),
  )
  return someOf({
    order: order.optional(),
    /** Keeps only these lines. */
    keep: numbers().optional(),
    drop: numbers().optional(),
    /** Repeats each of these lines once, directly after itself. */
    dup: numbers().optional(),
    /** Inserts texts before these lines; `at` the number of lines means after the last. An empty text is a blank line. */
    insert: texts().optional(),
    replace: texts().optional(),
    /** Default `\n`. */
    eol: z.enum(['\n', '\r\n', '\r']).optional(),
    /** Default true. */
    final_newline: z.boolean().optional(),
    /** Removes everything after a place. A Content-Length is that of the kept part. */
    truncate: bodyPosition().optional(),
  })
}

export const lines: WirePrimitive<'lines', typeof schema> = {
  name: 'lines',
  kind: 'wire',
  description: 'reordered, repeated, missing and changed NDJSON lines, line endings, truncation',
  schema,
  example: { match: { path: '/**/results' }, parameters: { drop: [0] } },
  effect: { body: withLines },
}

/**
 * Changes the lines of a body, one field of the fault after the other. Each field counts the lines that the field before it
 * has left; numbers of missing lines are ignored.
 */
export function withLines(draft: Draft, fault: LinesFault): Draft {
  const { eol = '\n', final_newline = true, truncate } = fault
  const lines = changed(split(draft.body), fault)
  const text = lines.join(eol) + (final_newline && lines.length > 0 ? eol : '')
  const body = Buffer.from(text, 'latin1')
  return { ...draft, body: truncate === undefined ? body : body.subarray(0, offsetOf(truncate, body)) }
}

type Lines = readonly string[]

function changed(lines: Lines, fault: LinesFault): Lines {
  const { order, keep, drop = [], dup = [], insert = [], replace = [] } = fault
  let result = order === undefined ? lines : ordered(lines, order)
  const [kept, dropped, doubled] = [keep && new Set(keep), new Set(drop), new Set(dup)]
  if (kept !== undefined) result = result.filter((_, at) => kept.has(at))
  result = result.filter((_, at) => !dropped.has(at))
  result = result.flatMap((line, at) => (doubled.has(at) ? [line, line] : [line]))
  const before = (at: number) => insert.filter((each) => each.at === at).map(({ text }) => toBytes(text))
  if (insert.length > 0) {
    result = [...result.flatMap((line, at) => [...before(at), line]), ...before(result.length)]
  }
  const replaced = new Map(replace.map(({ at, text }) => [at, toBytes(text)]))
  return result.map((line, at) => replaced.get(at) ?? line)
}

// Latin-1 has one character per byte, so that a body that is not UTF-8 stays intact.
function split(body: Buffer = Buffer.alloc(0)): Lines {
  const lines = body.toString('latin1').split(/\r\n|\n|\r/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function toBytes(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function ordered(lines: Lines, order: NonNullable<LinesFault['order']>): Lines {
  if (order === 'reverse') return lines.toReversed()
  if (order === 'shuffle') return shuffled(lines)
  const named = new Set(order)
  return [...order.flatMap((at) => lines[at] ?? []), ...lines.filter((_, at) => !named.has(at))]
}

/** The order depends only on the number of lines. Two or more lines all change their place. */
function shuffled(lines: Lines): Lines {
  const chance = new Chance(0, 'lines', lines.length)
  const result = [...lines]
  // Sattolo's algorithm forms one cycle of all lines: none stays in its place.
  for (let last = result.length - 1; last > 0; last--) {
    const other = chance.int(0, last - 1)
    const line = result[last] ?? ''
    result[last] = result[other] ?? ''
    result[other] = line
  }
  return result
}
