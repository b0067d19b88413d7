import * as z from 'zod'
import { intBetween, nonEmptyText } from '../../fields.ts'
import { isPointer } from '../../json.ts'
import { either, form, json, someOf, strictObject } from '../../strict-input.ts'
import {
  BODY_FIXTURES,
  type BodyFault,
  type CutFault,
  type FrameFault,
  type HeadFault,
  type LinesFault,
  type PaceFault,
  type Primitives,
  type RawFault,
  type WIRE_PRIMITIVES,
} from '../actions.ts'
import { anyText, base64, lineHeaders, lineName, lineText } from './bytes.ts'
import { bodyPlace, MAX_BYTES, stage } from './stage.ts'

type WireSchemas = { readonly [N in (typeof WIRE_PRIMITIVES)[number]]: z.ZodType<Primitives[N]> }

/** The parameters of the primitives that act on bytes and connections. */
export function wireSchemas(): WireSchemas {
  return { head: head(), body: body(), lines: lines(), frame: frame(), pace: pace(), cut: cut(), raw: raw() }
}

/** Real milliseconds that an exchange may take because of a fault. */
const LONGEST = 600_000

function head(): z.ZodType<HeadFault> {
  const interim = strictObject({
    status: intBetween(100, 199).refine((status) => status !== 101, {
      error: 'must not be 101, which ends HTTP on the connection',
    }),
    headers: lineHeaders().optional(),
  })
  return someOf({
    status: intBetween(200, 999).optional(),
    reason: lineText().optional(),
    version: z.enum(['1.0', '1.1']).optional(),
    set: lineHeaders().optional(),
    remove: z.array(lineName()).max(100).optional(),
    raw: z
      .array(z.tuple([lineName(), lineText()]))
      .max(100)
      .optional(),
    case: z.enum(['lower', 'upper']).optional(),
    interim: z.array(interim).max(100).optional(),
  })
}

function body(): z.ZodType<BodyFault> {
  const digits = z
    .string()
    .max(1_000)
    .regex(/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/, 'must be a number as JSON writes it')
  const pointer = () =>
    z
      .string()
      .refine(isPointer, { error: 'is no JSON Pointer; one begins with a slash, as in /counts/total' })
  return someOf({
    effects: z.enum(['none', 'apply']).optional(),
    patch: json().optional(),
    nulls: z.array(pointer()).min(1).max(100).optional(),
    text: anyText().optional(),
    base64: base64().optional(),
    fixture: z.enum(BODY_FIXTURES).optional(),
    type: lineText().optional(),
    envelope: nonEmptyText().optional(),
    raw_number: strictObject({ pointer: pointer(), digits }).optional(),
    prefix_b64: base64().optional(),
    truncate: bodyPlace().optional(),
    encode: z.enum(['gzip', 'br']).optional(),
  }).superRefine((value, context) => {
    const instead = (['text', 'base64', 'fixture'] as const).filter((name) => value[name] !== undefined)
    if (instead.length > 1) {
      const message = `cannot be given together with ${instead[0]}: each says all that is sent`
      context.addIssue({ code: 'custom', path: [instead[1] ?? ''], message })
    }
    if (value.effects !== 'none' || instead.length > 0) return
    const message = 'needs one of text, base64 and fixture: without its effect the operation answers nothing'
    context.addIssue({ code: 'custom', path: ['effects'], message })
  })
}

function lines(): z.ZodType<LinesFault> {
  const line = () => intBetween(0, 1_000_000)
  const numbers = () => z.array(line()).max(10_000)
  const texts = () => z.array(strictObject({ at: line(), text: anyText() })).max(1_000)
  const order = either<NonNullable<LinesFault['order']>>(
    'must be "reverse", "shuffle", or the numbers of the lines in their new order',
    form.text(z.enum(['reverse', 'shuffle'])),
    form.list(numbers()),
  )
  return someOf({
    order: order.optional(),
    keep: numbers().optional(),
    drop: numbers().optional(),
    dup: numbers().optional(),
    insert: texts().optional(),
    replace: texts().optional(),
    eol: z.enum(['\n', '\r\n', '\r']).optional(),
    final_newline: z.boolean().optional(),
    truncate: bodyPlace().optional(),
  })
}

function frame(): z.ZodType<FrameFault> {
  return someOf({
    mode: z.enum(['length', 'chunked', 'close']).optional(),
    length_delta: intBetween(-MAX_BYTES, MAX_BYTES).optional(),
    tail_b64: base64().optional(),
  }).refine(({ mode, length_delta }) => length_delta === undefined || (mode ?? 'length') === 'length', {
    error: 'needs the mode "length": no other has a Content-Length',
    path: ['length_delta'],
  })
}

function pace(): z.ZodType<PaceFault> {
  const offsets = z
    .array(intBetween(1, MAX_BYTES))
    .min(1)
    .max(10_000)
    .refine((list) => list.every((each, n) => n === 0 || each > (list[n - 1] ?? 0)), {
      error: 'must grow from one to the next',
    })
  const chunks = either<NonNullable<PaceFault['chunks']>>(
    'must be offsets in bytes, "inside-multibyte" or "between-cr-lf"',
    form.text(z.enum(['inside-multibyte', 'between-cr-lf'])),
    form.list(offsets),
  )
  return someOf({
    before_handler_ms: intBetween(0, LONGEST).optional(),
    before_head_ms: intBetween(0, LONGEST).optional(),
    chunks: chunks.optional(),
    bytes: intBetween(1, MAX_BYTES).optional(),
    gap_ms: intBetween(5, LONGEST).optional(),
    kbps: z.number().min(0.001).max(10_000_000).optional(),
    stall_at: stage().optional(),
    max_ms: intBetween(1, LONGEST).optional(),
    no_continue: z.boolean().optional(),
  }).refine(({ chunks: places, bytes }) => places === undefined || bytes === undefined, {
    error: 'cannot be given together with chunks, which say where the pieces end',
    path: ['bytes'],
  })
}

function cut(): z.ZodType<CutFault> {
  return strictObject({ at: stage(), how: z.enum(['fin', 'rst', 'pause']) })
}

function raw(): z.ZodType<RawFault> {
  return strictObject({ base64: base64() })
}
