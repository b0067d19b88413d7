import { DAY, HOUR, MINUTE, SECOND } from '../core/time/instant.ts'

export { parsedJson as asJson } from '../core/json.ts'

/** An instant in UTC: `2026-11-23 09:41:12`. */
export function dateTime(instant: string | number): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ')
}

/** The time of day of an instant: `09:41:12`. */
export function timeOfDay(instant: string | number): string {
  return new Date(instant).toISOString().slice(11, 19)
}

/** The time of day, and the day where it is not that of `now`: `24 Nov 09:06`. */
export function shortTime(instant: string | number, now: number): string {
  const day = dayText(instant, now)
  return day === dayText(now, now) ? timeOfDay(instant) : `${day} ${timeOfDay(instant).slice(0, 5)}`
}

/** The day of an instant: `24 Nov`, and its year where it is not that of `now`. */
export function dayText(instant: string | number, now: number): string {
  const date = new Date(instant)
  // Such as `Tue, 24 Nov 2026 09:06:00 GMT`.
  const [, day = '', year = ''] = /, 0?(\d+ \w+) (\d+)/.exec(date.toUTCString()) ?? []
  return Number(year) === new Date(now).getUTCFullYear() ? day : `${day} ${year}`
}

/** A duration in its two largest units: `3 m 48 s`, `22 h 40 m`, `29 d`. */
export function durationText(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`
  const units = [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'm'],
    [SECOND, 's'],
  ] as const
  const rounded = Math.round(ms / SECOND) * SECOND
  const first = units.findIndex(([size]) => rounded >= size)
  const [size, name] = units[first] as (typeof units)[number]
  const head = Math.floor(rounded / size)
  const second = units[first + 1]
  const rest = second === undefined ? 0 : Math.floor((rounded - head * size) / second[0])
  return rest === 0 || second === undefined ? `${head} ${name}` : `${head} ${name} ${rest} ${second[1]}`
}

/** The end of a long id: `…0248`. Short ids stay unchanged. */
export function shortId(id: string): string {
  return /^[0-9a-f-]{16,}$/.test(id) ? `…${id.slice(-4)}` : id
}

/** A path from its version on, with long ids cut and without its middle: `/organization/…/users`. */
export function shortPath(path: string, most = 34): string {
  const bare = path.replace(/^.*?\/v1(?=\/|$)|^\/@[^/]+/, '') || '/'
  const parts = bare.split('/').map(shortId)
  const whole = parts.join('/')
  if (whole.length <= most || parts.length <= 3) return whole
  for (let cut = 1; cut <= parts.length - 3; cut += 1) {
    const shorter = [...parts.slice(0, 2), '…', ...parts.slice(2 + cut)].join('/')
    if (shorter.length <= most) return shorter
  }
  return `/…/${parts.at(-1)}`
}

/** A number with separated thousands: `1,234.5`. Intl would take longer than drawing the page. */
export function numberText(value: number): string {
  const [whole = '', ...decimals] = String(value).split('.')
  return [whole.replaceAll(/\B(?=(\d{3})+$)/g, ','), ...decimals].join('.')
}

/** A number with its noun: `1 rule`, `3 rules`. */
export function countOf(count: number, noun: string, nouns = `${noun}s`): string {
  return `${numberText(count)} ${count === 1 ? noun : nouns}`
}

/** A value as JSON, indented by two spaces. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ''
}

/** Bytes in words: `511 bytes`, `2.4 kB`. */
export function sizeOf(bytes: number): string {
  if (bytes < 1_000) return countOf(bytes, 'byte')
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** An identifier as readable text: `runDueEvents` becomes `Run due events`. */
export function humanName(name: string): string {
  const spaced = name
    .replaceAll(/[_-]/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`)
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
