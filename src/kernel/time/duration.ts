const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export const SECOND = UNITS.s
export const MINUTE = UNITS.m
export const HOUR = UNITS.h
export const DAY = UNITS.d

const SHORT = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/
const ISO = /^P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/**
 * Milliseconds of a duration written as `250ms`, `90s`, `10m`, `24h`, `29d` or ISO 8601 (`PT24H`, `P29D`); undefined for
 * anything else. Fractions of a millisecond are rounded. Years, months and weeks have no place here: they are not one length.
 */
export function parseDuration(text: string): number | undefined {
  const short = SHORT.exec(text)
  if (short !== null) return Math.round(Number(short[1]) * UNITS[short[2] as keyof typeof UNITS])
  const iso = ISO.exec(text)
  if (iso === null || text === 'P') return undefined
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = iso
  return Math.round(
    Number(days) * DAY + Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND,
  )
}

/** The shortest usual way to write a number of milliseconds: `24h`, `1500ms`. */
export function formatDuration(ms: number): string {
  for (const [unit, size] of [
    ['d', DAY],
    ['h', HOUR],
    ['m', MINUTE],
    ['s', SECOND],
  ] as const) {
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`
  }
  return `${ms}ms`
}
