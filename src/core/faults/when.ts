import { chanceOf } from '../random.ts'
import { parseDuration } from '../time/instant.ts'
import { counted } from '../words.ts'
import type { CountedBy, FaultRule, When } from './rule.ts'

/** The match that `when` is checked against. */
export interface Occasion {
  readonly rule: FaultRule
  /** Number of this match under its key, from 1. */
  readonly n: number
  readonly key: string | null
  /** Virtual milliseconds. */
  readonly now: number
  /** Real milliseconds. */
  readonly wall: number
  readonly seed: number
}

/** Whether a match fires; `step` is the name of its action list in a sequence. */
interface Timing {
  readonly fires: boolean
  readonly step?: string
  readonly description: string
}

/** The keys that a rule counts by; empty when all its matches are counted together. */
export function countedBy({ by = 'rule' }: When): readonly CountedBy[] {
  const list = typeof by === 'string' ? [by] : by
  return list.filter((each) => each !== 'rule')
}

/** The parts of `when` that select the matches that fire. */
const TIMINGS = ['nth', 'first', 'after', 'every', 'probability'] as const

/** Whether `when` selects matches, or sets a key that they are counted by. */
export function isTimed(when: When): boolean {
  return when.by !== undefined || TIMINGS.some((name) => when[name] !== undefined)
}

/** Removes the parts that select matches by number or chance; `by`, `from`, `until` and `sequence` stay. */
export function untimed(when: When): When {
  const isKept = ([name]: [string, unknown]) => !(TIMINGS as readonly string[]).includes(name)
  return Object.fromEntries(Object.entries(when).filter(isKept))
}

/** Why a rule is no longer evaluated, as a sentence; undefined while it is. */
export function retired(rule: FaultRule, fired: number, now: number): string | undefined {
  if (rule.times !== null && fired >= rule.times)
    return `It has fired ${counted(fired, 'time')}, its maximum.`
  const lifetime = rule.ttl === null ? undefined : parseDuration(rule.ttl)
  if (lifetime === undefined || now < Date.parse(rule.armed_at) + lifetime) return undefined
  return `Its time to live of ${rule.ttl} is over.`
}

/** The status of a rule, from its counters and the current time. */
export function ruleStatus(
  rule: FaultRule,
  { matched, fired }: { readonly matched: number; readonly fired: number },
  { now, wall }: Pick<Occasion, 'now' | 'wall'>,
): 'armed' | 'spent' | 'expired' {
  if (matched >= lastMatch(rule) || (rule.times !== null && fired >= rule.times)) return 'spent'
  const isOver = retired(rule, fired, now) ?? over({ rule, n: 0, now, wall })
  return isOver === undefined ? 'armed' : 'expired'
}

/** The number of the last match that can fire; infinite for matches counted by a key, since a new key can always come. */
function lastMatch({ when }: FaultRule): number {
  if (countedBy(when).length > 0) return Number.POSITIVE_INFINITY
  const { nth, first, until, sequence } = when
  const last = sequence?.findLastIndex((step) => step !== 'pass') ?? -1
  const inSequence = sequence?.at(-1) === 'pass' ? last + 1 : undefined
  const limits = [nth, first, until?.calls, inSequence]
  return limits.reduce<number>((least, limit) => Math.min(least, limit ?? least), Number.POSITIVE_INFINITY)
}

/** How long a rule lasts, as a sentence. */
export function lifetimeOf(rule: FaultRule): string {
  const { times, ttl, when } = rule
  const by = countedBy(when)
  const once = Math.min(times ?? Number.POSITIVE_INFINITY, lastMatch(rule) === when.nth ? 1 : lastMatch(rule))
  const within = ttl === null ? '' : ` within ${ttl}`
  if (once === 1) return `It fires once${within}, then it is spent.`
  if (Number.isFinite(once)) return `It fires at most ${once} times${within}, then it is spent.`
  const each = when.nth === undefined || by.length === 0 ? '' : `, once for each ${by.join(' and ')}`
  return ttl === null ? `It stays until it is removed${each}.` : `It stays for ${ttl}${each}.`
}

/** Decides whether a match fires. If not, the description gives the first condition of `when` that does not hold. */
export function timing(occasion: Occasion): Timing {
  const reason = waits(occasion) ?? over(occasion) ?? wrongNumber(occasion)
  if (reason !== undefined) return { fires: false, description: reason }
  const { rule, n } = occasion
  const draw = drawn(occasion)
  if (draw?.fires === false) return draw
  const { sequence } = rule.when
  if (sequence !== undefined) return inSequence(sequence, n)
  return draw ?? { fires: true, description: `It fired on ${match(n)}.` }
}

function waits({ rule: { when }, now }: Occasion): string | undefined {
  if (when.from === undefined || now >= Date.parse(when.from)) return undefined
  return `It fires from ${when.from} on.`
}

function over({ rule, n, now, wall }: Omit<Occasion, 'key' | 'seed'>): string | undefined {
  const { calls, virtual_time, wall_ms } = rule.when.until ?? {}
  if (calls !== undefined && n > calls) return `This is ${match(n)}; it fires only up to number ${calls}.`
  if (virtual_time !== undefined && now >= Date.parse(virtual_time)) return `It fired until ${virtual_time}.`
  // A document without real instants does not have the real one.
  const armed = Date.parse(rule.armed_wall ?? rule.armed_at)
  if (wall_ms !== undefined && wall >= armed + wall_ms)
    return `It fired for ${wall_ms} ms after it was armed.`
  return undefined
}

function wrongNumber({ rule: { when }, n }: Occasion): string | undefined {
  const { nth, first, after, every } = when
  if (nth !== undefined && n !== nth) return `This is ${match(n)}; it fires on number ${nth}.`
  if (first !== undefined && n > first) return `This is ${match(n)}; it fires on the first ${first}.`
  if (after !== undefined && n <= after) return `This is ${match(n)}; it fires after the first ${after}.`
  if (every !== undefined && n % every !== 0)
    return `This is ${match(n)}; it fires on every multiple of ${every}.`
  return undefined
}

function inSequence(sequence: readonly string[], n: number): Timing {
  const step = sequence[Math.min(n, sequence.length) - 1] ?? 'pass'
  if (step === 'pass') return { fires: false, description: `On ${match(n)} its sequence contains "pass".` }
  return {
    fires: true,
    step,
    description: `It fired on ${match(n)}, for which its sequence contains "${step}".`,
  }
}

function drawn({ rule, n, key, seed }: Occasion): Timing | undefined {
  const { probability } = rule.when
  if (probability === undefined || probability >= 1) return undefined
  const draw = chanceOf(seed, 'fault', rule.id, key ?? '', n)
  const fires = draw < probability
  const description = `The draw for ${match(n)} was ${draw.toFixed(4)} against a probability of ${probability}.`
  return { fires, description: fires ? `It fired. ${description}` : description }
}

function match(n: number): string {
  return `match number ${n}`
}
