import * as z from 'zod'
import type { ParametersOf } from '../../../core/faults/primitive.ts'
import { intBetween } from '../../../core/fields.ts'
import { either, form, someOf } from '../../../core/strict-input.ts'
import { MIN_GAP } from './pieces.ts'
import { MAX_BYTES, MAX_HOLD_MS, phaseOfStage, stage } from './stage.ts'
import type { WirePrimitive } from './wire-primitive.ts'

declare module '../../../core/faults/primitive.ts' {
  interface Primitives {
    readonly pace: PaceFault
  }
}

/** When the bytes are sent: always real milliseconds. */
export type PaceFault = ParametersOf<typeof schema>

function schema() {
  const offsets = z
    .array(intBetween(1, MAX_BYTES))
    .min(1)
    .max(10_000)
    .refine((list) => list.every((each, n) => n === 0 || each > (list[n - 1] ?? 0)), {
      error: 'must grow from one to the next',
    })
  const chunks = either<readonly number[] | 'inside-multibyte' | 'between-cr-lf'>(
    'must be offsets in bytes, "inside-multibyte" or "between-cr-lf"',
    form.text(z.enum(['inside-multibyte', 'between-cr-lf'])),
    form.list(offsets),
  )
  return someOf({
    before_handler_ms: intBetween(0, MAX_HOLD_MS).optional(),
    before_head_ms: intBetween(0, MAX_HOLD_MS).optional(),
    /** Up to this many more, drawn for each response: the same for the same seed, rule and count. */
    jitter_ms: intBetween(0, MAX_HOLD_MS).optional(),
    /** Where the body is split into pieces: offsets in bytes, inside a character of several bytes, or between CR and LF. */
    chunks: chunks.optional(),
    /** Bytes of each piece, where no places are named. */
    bytes: intBetween(1, MAX_BYTES).optional(),
    /** Between pieces; at least 5, which is what it takes for a client to see them apart. */
    gap_ms: intBetween(MIN_GAP, MAX_HOLD_MS).optional(),
    /** Kilobits per second. */
    kbps: z.number().min(0.001).max(10_000_000).optional(),
    /** Nothing more is sent from here on. */
    stall_at: stage().optional(),
    /** The longest that all of this may take; then the rest is sent at once, and what was stalled ends. Default 60,000, at most 600,000. */
    max_ms: intBetween(1, MAX_HOLD_MS).optional(),
    /** `Expect: 100-continue` is never answered. */
    no_continue: z.boolean().optional(),
  }).refine(({ chunks: places, bytes }) => places === undefined || bytes === undefined, {
    error: 'cannot be given together with chunks, which say where the pieces end',
    path: ['bytes'],
  })
}

export const pace: WirePrimitive<'pace'> = {
  name: 'pace',
  kind: 'wire',
  description: 'latency, drip, splits at chosen places, stalls: always real milliseconds',
  schema,
  holds: () => true,
  draw: ({ jitter_ms = 0, ...pace }, draw) =>
    jitter_ms === 0
      ? pace
      : { ...pace, before_head_ms: (pace.before_head_ms ?? 0) + Math.floor(draw * (jitter_ms + 1)) },
  phase: ({ stall_at, no_continue }) => {
    const own = stall_at === undefined ? 'call' : phaseOfStage(stall_at)
    return own === 'call' && no_continue === true ? 'head' : own
  },
  effect: {
    pace: (pace, parameters) => ({ ...pace, ...parameters }),
    stop: ({ stall_at }) => (stall_at === undefined ? undefined : { at: stall_at, how: 'stall' }),
  },
}
