import { Chance } from '../../../src/core/random.ts'
import { type Admitted, RateLimiter } from '../../../src/core/request/rate-limiter.ts'
import { atLeast, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { gap } from './gaps.ts'
import { mostInAnySpan, ReferenceWindow, type Verdict } from './reference.ts'

const SIZES = {
  short: 500,
  long: 10_000,
} as const satisfies Record<Scale, number>

const SEED = 20_260_304

/** Keys of one limiter that are used in turn, so that a mix-up of their windows is detected. */
const KEYS = ['a', 'b', '__proto__']

/** F4: the rate limiter. */
export const f4: Proof = {
  id: 'F4',
  promise:
    'For any pattern of requests the limiter agrees with its definition, no window has more requests than the limit, and a wait of Retry-After is enough.',
  run: (scale, say) => runArrivals(SIZES[scale], say),
}

/** Runs this many patterns through the limiter. */
async function runArrivals(
  patterns: number,
  say: (line: string) => void,
  seed = SEED,
): Promise<readonly Figure[]> {
  const tally: Tally = { arrivals: 0, refused: 0, differences: 0, crowded: 0, insufficient: 0 }
  for (let n = 0; n < patterns; n++) {
    const before = tally.differences + tally.crowded + tally.insufficient
    pattern(new Chance(seed, 'arrivals', n), tally)
    const after = tally.differences + tally.crowded + tally.insufficient
    if (after > before) say(`F4: seed ${seed}, pattern ${n}: ${after - before} differences`)
  }
  return [
    tried('seed', seed),
    tried('patterns', patterns),
    tried('arrivals', tally.arrivals),
    atLeast('refused', tally.refused, patterns),
    none('differences from the reference', tally.differences),
    none('patterns with more than the limit in some span', tally.crowded),
    none('waits of Retry-After that were not enough', tally.insufficient),
  ]
}

interface Tally {
  arrivals: number
  refused: number
  differences: number
  crowded: number
  insufficient: number
}

function pattern(chance: Chance, tally: Tally): void {
  const limit = chance.int(0, 19) === 0 ? 200 : chance.int(1, 10)
  const window = chance.pick([1_000, 10_000, 60_000, 60_000, 60_000, 3_600_000])
  const rule = { limit, window }
  const limiter = new RateLimiter()
  const references = KEYS.map(() => new ReferenceWindow(limit, window))
  let now = 1_772_366_400_000 + chance.int(0, 999_999)
  const arrivals = limit * chance.int(2, 4) + chance.int(0, 40)
  for (let n = 0; n < arrivals; n++) {
    const at = chance.int(0, KEYS.length - 1)
    const key = KEYS[at] ?? ''
    const response = limiter.admit(key, rule, now)
    const wanted = references[at]?.ask(now)
    tally.arrivals += 1
    if (!response.admitted) tally.refused += 1
    if (wanted === undefined || !agrees(response, wanted, limit)) tally.differences += 1
    if (response.retryAfter !== undefined && !isEnough(limiter, key, rule, now + response.retryAfter * 1000))
      tally.insufficient += 1
    now += gap(chance, rule, response.retryAfter)
  }
  if (references.some(({ admitted }) => mostInAnySpan(admitted, window) > limit)) tally.crowded += 1
}

function agrees(response: Admitted, wanted: Verdict, limit: number): boolean {
  const { admitted, remaining, reset, retryAfter } = response
  return (
    response.limit === limit &&
    admitted === wanted.admitted &&
    remaining === wanted.remaining &&
    reset === wanted.reset &&
    retryAfter === wanted.retryAfter
  )
}

// Checked on a copy that was saved and loaded, because the pattern itself may wait less.
function isEnough(
  limiter: RateLimiter,
  key: string,
  rule: { limit: number; window: number },
  at: number,
): boolean {
  const copy = new RateLimiter()
  copy.load(limiter.save())
  return copy.peek(key, rule, at).admitted
}
