import { z } from 'zod'
import { durationUpTo, intBetween } from '../../core/fields.ts'
import { parseDuration } from '../../core/time/instant.ts'

/** A duration of at most ten years: a longer phase could end after the last instant that a timestamp can name. */
export const phaseDuration = () => durationUpTo('3650d')

const PHASE = '"immediate", "hold", a duration such as 2s, or {"polls": 3}'

/** When a phase ends: at once, never (until released), after a duration, or after a number of polls. */
function phasePace() {
  const polls = z.strictObject({ polls: intBetween(1, 1_000_000) })
  const named = z.enum(['immediate', 'hold'])
  return z.union([named, phaseDuration(), polls], { error: `must be ${PHASE}` })
}

/** Items can also have a duration each, with `concurrency` of them in flight (default 1). */
function itemPace() {
  const perItem = z.strictObject({ per_item: phaseDuration(), concurrency: intBetween(1, 5_000).optional() })
  return z.union([...phasePace().options, perItem], {
    error: `must be ${PHASE}, or {"per_item": "200ms", "concurrency": 50}`,
  })
}

/** The pace of a whole batch. */
export const paceSchema = () =>
  z.strictObject({ validating: phasePace(), in_progress: itemPace(), finalizing: phasePace() })

/** A change of some phases of a pace; the others stay unchanged. */
export const paceChangeSchema = () => paceSchema().partial()

export type Pace = z.output<ReturnType<typeof paceSchema>>
export type PhasePace = Pace['finalizing']
export type ItemPace = Pace['in_progress']
export type PaceChange = z.output<ReturnType<typeof paceChangeSchema>>

/** The pace of a batch without settings. */
export const DEFAULT_PACE: Pace = {
  validating: '2s',
  in_progress: { per_item: '200ms', concurrency: 50 },
  finalizing: '1s',
}

/** A pace with some phases changed. */
export function changePace(pace: Pace, { validating, in_progress, finalizing }: PaceChange): Pace {
  return {
    validating: validating ?? pace.validating,
    in_progress: in_progress ?? pace.in_progress,
    finalizing: finalizing ?? pace.finalizing,
  }
}

/** The parsed pace of one phase: no progress, polls or milliseconds for all items, or `ms` for each with `width` in flight. */
export type Beat =
  | { readonly by: 'nothing' }
  | { readonly by: 'polls' | 'whole'; readonly span: number }
  | { readonly by: 'item'; readonly ms: number; readonly width: number }

export function beatOf(pace: ItemPace): Beat {
  if (pace === 'hold') return { by: 'nothing' }
  if (pace === 'immediate') return { by: 'whole', span: 0 }
  if (typeof pace === 'string') return { by: 'whole', span: parseDuration(pace) ?? 0 }
  if ('polls' in pace) return { by: 'polls', span: pace.polls }
  const ms = parseDuration(pace.per_item) ?? 0
  return ms === 0 ? { by: 'whole', span: 0 } : { by: 'item', ms, width: pace.concurrency ?? 1 }
}

/** How many of `count` items are finished `elapsed` milliseconds, or `polls` polls, after work on them began. */
export function finishedAfter(beat: Beat, count: number, elapsed: number, polls: number): number {
  switch (beat.by) {
    case 'nothing':
      return 0
    case 'polls':
    case 'whole': {
      const spent = beat.by === 'polls' ? polls : elapsed
      return spent >= beat.span ? count : Math.floor((spent * count) / beat.span)
    }
    case 'item':
      return Math.min(count, Math.floor(elapsed / beat.ms) * beat.width)
  }
}

/** Milliseconds until `n` of `count` items are finished; undefined if time alone does not finish them. */
export function timeUntil(beat: Beat, count: number, n: number): number | undefined {
  switch (beat.by) {
    case 'nothing':
    case 'polls':
      return n === 0 ? 0 : undefined
    case 'whole':
      return n >= count ? beat.span : Math.ceil((beat.span * n) / count)
    case 'item':
      return Math.ceil(n / beat.width) * beat.ms
  }
}

/** How many items are in flight at the same time. */
export function inFlight(beat: Beat): number {
  if (beat.by === 'item') return beat.width
  return beat.by === 'whole' && beat.span > 0 ? 1 : 0
}
