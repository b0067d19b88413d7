import { z } from 'zod'
import type { ParametersOf, Phase } from '../../../core/faults/primitive.ts'
import { intBetween } from '../../../core/fields.ts'
import { either, form, membersOf, nameAmong, someOf } from '../../../core/strict-input.ts'

/**
 * The stages of an exchange at which a fault can act, in order. `accept`: the connection is open, no byte has been read.
 * `before-read` and `after-request-head`: method, path and headers are known, the body is not. `{request_bytes}`: this many
 * bytes of the body have arrived. `before-handler`: the operation has no effect yet; `after-handler`: it has. Then the
 * response: before and after its head, at a place in its body, before the chunk that ends it, after its last byte, and when
 * the connection is idle.
 */
const STAGES = [
  'accept',
  'before-read',
  'after-request-head',
  'before-handler',
  'after-handler',
  'before-head',
  'after-head',
  'before-last-chunk',
  'end',
  'idle',
] as const

type NamedStage = (typeof STAGES)[number]

/** A place in the sent body of a response: an offset in bytes, a fraction or a number of whole lines, plus optional bytes. */
export type BodyPosition = ParametersOf<typeof bodyPosition>

export type Stage = NamedStage | { readonly request_bytes: number } | BodyPosition

/** Where an exchange stops, and how: cut (`fin`, `rst`), held open (`pause`), or held open for a bounded time (`stall`). */
export interface Stop {
  readonly at: Stage
  readonly how: 'fin' | 'rst' | 'pause' | 'stall'
}

/** Maximum real milliseconds for which a fault may delay an exchange. */
export const MAX_HOLD_MS = 600_000

/** Maximum offset in a body (1 GiB). No body is larger, so that a place after it would never be reached. */
export const MAX_BYTES = 1_073_741_824

const PLACES = ['bytes', 'fraction', 'line'] as const

const place = () => ({
  bytes: intBetween(0, MAX_BYTES).optional(),
  /** Fraction of the whole body. */
  fraction: z.number().min(0).max(1).optional(),
  /** Number of whole lines. In an NDJSON body each is one result. */
  line: intBetween(0, 1_000_000).optional(),
  /** Negative: this many bytes before the place. */
  plus_bytes: intBetween(-MAX_BYTES, MAX_BYTES).optional(),
})

export function bodyPosition() {
  return someOf(place()).refine(hasOnePosition, { error: `must have exactly one of ${PLACES.join(', ')}` })
}

/** A named stage, a place in the body of the request, or one in that of the response. */
export function stage(): z.ZodType<Stage> {
  const shape = { request_bytes: intBetween(0, MAX_BYTES).optional(), ...place() }
  const somewhere = someOf(shape).refine(
    (value) => (value.request_bytes === undefined ? hasOnePosition(value) : membersOf(value).length === 1),
    { error: 'must have request_bytes alone, or exactly one of bytes, fraction and line' },
  )
  const all = `one of ${STAGES.join(', ')}, or a place such as {"bytes": 100}, {"fraction": 0.5}, {"line": 2}`
  return either<Stage>(
    `must be ${all}`,
    form.text(nameAmong<NamedStage>(STAGES, 'stage', ` It must be ${all}.`)),
    form.object(somewhere),
  )
}

function hasOnePosition(value: { readonly [N in (typeof PLACES)[number]]?: unknown }): boolean {
  return PLACES.filter((name) => value[name] !== undefined).length === 1
}

/** The phase in which a rule that acts at this stage must be decided. */
export function phaseOfStage(stage: Stage): Exclude<Phase, 'webhook'> {
  if (stage === 'accept') return 'accept'
  const isEarly =
    typeof stage === 'string'
      ? stage === 'before-read' || stage === 'after-request-head'
      : 'request_bytes' in stage
  return isEarly ? 'head' : 'call'
}

/** Why `fetch` does not show a stop at a stage; undefined if it does. */
export function onlyAfterResponse(
  parameter: string,
  stage: Stage | undefined,
): readonly [parameter: string, reason: string] | undefined {
  if (stage !== 'end' && stage !== 'idle') return undefined
  return [parameter, 'the response is complete, and the next request takes another connection']
}

/** A stage in words, for the log: `before-head`, `bytes:120`, `line:3 plus_bytes:5`. */
export function stageName(stage: Stage): string {
  if (typeof stage === 'string') return stage
  return Object.entries(stage)
    .map(([name, value]) => `${name}:${value}`)
    .join(' ')
}

/**
 * The offset of a place in a body, between 0 and its length. A line ends with LF, CR LF or CR. If the body has fewer lines,
 * the place is its end. A fraction is rounded down.
 */
export function offsetOf(place: BodyPosition, body: Buffer): number {
  const { bytes, fraction, line, plus_bytes = 0 } = place
  let offset = bytes ?? 0
  if (line !== undefined) offset = endOfLine(line, body)
  else if (fraction !== undefined) offset = Math.floor(fraction * body.length)
  return Math.max(0, Math.min(body.length, offset + plus_bytes))
}

function endOfLine(count: number, body: Buffer): number {
  if (count === 0) return 0
  // Latin-1 has one character per byte.
  const last = [...body.toString('latin1').matchAll(/\r\n|\n|\r/g)][count - 1]
  return last === undefined ? body.length : last.index + last[0].length
}
