import type { Chance } from '../../../src/core/random.ts'

/**
 * Real or virtual milliseconds until the next arrival: bursts, short pauses, steady arrivals, pauses about as long as the
 * window, and clients that wait as long as the response requires.
 */
export function gap(
  chance: Chance,
  { limit, window }: { readonly limit: number; readonly window: number },
  retryAfter: number | undefined,
): number {
  const draw = chance.int(0, 99)
  if (draw < 60) return 0
  if (draw < 75) return chance.int(0, 5)
  if (draw < 92) return chance.int(0, Math.ceil(window / limit))
  if (draw < 96 && retryAfter !== undefined) return retryAfter * 1000
  return Math.max(0, window + chance.pick([-1_000, -1, 0, 1, 999]))
}
