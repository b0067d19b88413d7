import { z } from 'zod'
import { intBetween } from '../../../core/fields.ts'
import { either, form, someOf } from '../../../core/strict-input.ts'
import { MIN_GAP } from './pieces.ts'
import { MAX_BYTES, MAX_HOLD_MS, onlyAfterResponse, phaseOfStage, stage } from './stage.ts'
import type { WirePrimitive } from './wire-primitive.ts'

/** When the bytes are sent: always real milliseconds. */
function schema() {
  const offsets = z
    .array(intBetween(1, MAX_BYTES))
    .min(1)
    .max(10_000)
    .refine((list) => list.every((each, n) => n === 0 || each > (list[n - 1] ?? 0)), {
      error: 'must be in ascending order, without repetition',
    })
  const chunks = either<readonly number[] | 'inside-multibyte' | 'between-cr-lf'>(
    'must be offsets in bytes, "inside-multibyte" or "between-cr-lf"',
    form.text(z.enum(['inside-multibyte', 'between-cr-lf'])),
    form.list(offsets),
  )
  return someOf({
    before_handler_ms: intBetween(0, MAX_HOLD_MS).optional(),
    before_head_ms: intBetween(0, MAX_HOLD_MS).optional(),
    /** Adds up to this much to before_head_ms, drawn for each response: the same for the same seed, rule and count. */
    jitter_ms: intBetween(0, MAX_HOLD_MS).optional(),
    /** Where the body is split into pieces: offsets in bytes, inside a character of several bytes, or between CR and LF. */
    chunks: chunks.optional(),
    /** Bytes of each piece. Not allowed with `chunks`. */
    bytes: intBetween(1, MAX_BYTES).optional(),
    /** Milliseconds between pieces. At least 5: with less, a client receives them joined. */
    gap_ms: intBetween(MIN_GAP, MAX_HOLD_MS).optional(),
    /** Kilobits per second. */
    kbps: z.number().min(0.001).max(10_000_000).optional(),
    /** Sends nothing after this stage. */
    stall_at: stage().optional(),
    /** Maximum time for all of this; then the rest is sent at once, or a stall ends. Default 60,000, at most 600,000. */
    max_ms: intBetween(1, MAX_HOLD_MS).optional(),
    /** Never sends `100 Continue`. */
    no_continue: z.boolean().optional(),
  }).refine(({ chunks: places, bytes }) => places === undefined || bytes === undefined, {
    error: 'cannot be given together with chunks, which define the pieces',
    path: ['bytes'],
  })
}

export const pace: WirePrimitive<'pace', typeof schema> = {
  name: 'pace',
  kind: 'wire',
  description: 'latency, slow bodies, pieces, stalls; times are real milliseconds',
  schema,
  example: { parameters: { before_head_ms: 500 } },
  holds: () => true,
  draw: ({ jitter_ms = 0, ...pace }, draw) =>
    jitter_ms === 0
      ? pace
      : { ...pace, before_head_ms: (pace.before_head_ms ?? 0) + Math.floor(draw * (jitter_ms + 1)) },
  phase: ({ stall_at, no_continue }) => {
    const own = stall_at === undefined ? 'call' : phaseOfStage(stall_at)
    return own === 'call' && no_continue === true ? 'head' : own
  },
  onlyOnSockets: ({ no_continue, stall_at }) =>
    no_continue === true
      ? ['no_continue', 'it does not wait for 100 Continue']
      : onlyAfterResponse('stall_at', stall_at),
  effect: {
    pace: (pace, parameters) => ({ ...pace, ...parameters }),
    stop: ({ stall_at }) => (stall_at === undefined ? undefined : { at: stall_at, how: 'stall' }),
  },
}
