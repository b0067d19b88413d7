import * as z from 'zod'
import { duration, intBetween } from '../../kernel/fields.ts'
import { DAY, parseDuration } from '../../kernel/time/duration.ts'

/** How a phase passes: `immediate`, `hold` (until released), a duration, or after so many polls. */
export type PhasePace = string | { readonly polls: number }

/** As {@link PhasePace} for the items: also so long per item, so many at a time (1 when left out). */
export type ItemPace = PhasePace | { readonly per_item: string; readonly concurrency?: number | undefined }

/** The pace of a whole batch. */
export interface Pace {
  readonly validating: PhasePace
  readonly in_progress: ItemPace
  readonly finalizing: PhasePace
}

/** The pace of a batch that nobody gave another. */
export const DEFAULT_PACE: Pace = {
  validating: '2s',
  in_progress: { per_item: '200ms', concurrency: 50 },
  finalizing: '1s',
}

/** Some phases of a pace; the others keep what they have. */
export type PaceChange = { readonly [Phase in keyof Pace]?: Pace[Phase] | undefined }

// Longer phases could end beyond the last instant that a timestamp can name.
const LONGEST = 3650 * DAY

/** A duration of at most ten years. */
export function phaseDuration(): z.ZodType<string> {
  return duration().refine((value) => (parseDuration(value) ?? 0) <= LONGEST, {
    error: 'must be at most 3650d',
  })
}

const PHASE = '"immediate", "hold", a duration such as 2s, or {"polls": 3}'

function phasePace() {
  const polls = z.strictObject({ polls: intBetween(1, 1_000_000) })
  const named = z.enum(['immediate', 'hold'])
  return z.union([named, phaseDuration(), polls], { error: `must be ${PHASE}` })
}

function itemPace() {
  const perItem = z.strictObject({ per_item: phaseDuration(), concurrency: intBetween(1, 5_000).optional() })
  return z.union([...phasePace().options, perItem], {
    error: `must be ${PHASE}, or {"per_item": "200ms", "concurrency": 50}`,
  })
}

/** The whole pace of a batch. */
export function paceSchema(): z.ZodType<Pace> {
  return z.strictObject({ validating: phasePace(), in_progress: itemPace(), finalizing: phasePace() })
}

/** What a setting or the control API says about some of the phases. */
export function paceChangeSchema(): z.ZodType<PaceChange> {
  return z.strictObject({
    validating: phasePace().optional(),
    in_progress: itemPace().optional(),
    finalizing: phasePace().optional(),
  })
}

/** A pace with some phases changed. */
export function changePace(pace: Pace, { validating, in_progress, finalizing }: PaceChange): Pace {
  return {
    validating: validating ?? pace.validating,
    in_progress: in_progress ?? pace.in_progress,
    finalizing: finalizing ?? pace.finalizing,
  }
}

/** The pace of one phase, read: nothing moves, so many polls, `ms` for all, or `ms` for each item, `width` at a time. */
export type Beat =
  | { readonly by: 'nothing' }
  | { readonly by: 'polls'; readonly polls: number }
  | { readonly by: 'whole'; readonly ms: number }
  | { readonly by: 'item'; readonly ms: number; readonly width: number }

export function beatOf(pace: ItemPace): Beat {
  if (pace === 'hold') return { by: 'nothing' }
  if (pace === 'immediate') return { by: 'whole', ms: 0 }
  if (typeof pace === 'string') return { by: 'whole', ms: parseDuration(pace) ?? 0 }
  if ('polls' in pace) return { by: 'polls', polls: pace.polls }
  const ms = parseDuration(pace.per_item) ?? 0
  return ms === 0 ? { by: 'whole', ms } : { by: 'item', ms, width: pace.concurrency ?? 1 }
}

/** How many of `count` items are finished `elapsed` milliseconds, or so many polls, after work on them began. */
export function finishedAfter(beat: Beat, count: number, elapsed: number, polls: number): number {
  switch (beat.by) {
    case 'nothing':
      return 0
    case 'polls':
      return Math.min(count, Math.floor((count * polls) / beat.polls))
    case 'whole':
      return elapsed >= beat.ms ? count : Math.floor((elapsed * count) / beat.ms)
    case 'item':
      return Math.min(count, Math.floor(elapsed / beat.ms) * beat.width)
  }
}

/** Milliseconds until `n` of `count` items are finished; undefined where no time brings that about. */
export function timeUntil(beat: Beat, count: number, n: number): number | undefined {
  switch (beat.by) {
    case 'nothing':
    case 'polls':
      return n === 0 ? 0 : undefined
    case 'whole':
      return n >= count ? beat.ms : Math.ceil((beat.ms * n) / count)
    case 'item':
      return Math.ceil(n / beat.width) * beat.ms
  }
}

/** How many items are being worked on at a time. */
export function inFlight(beat: Beat): number {
  if (beat.by === 'item') return beat.width
  return beat.by === 'whole' && beat.ms > 0 ? 1 : 0
}
