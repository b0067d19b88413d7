import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Refusal } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { admitBatch } from './admission.ts'

type Ask = Parameters<typeof admitBatch>[0]

const T0 = Date.parse('2026-03-01T12:00:00.000Z')
const WINDOW = 10

/** The refusal of a creation at an instant, after one batch was created at another; undefined when it is admitted. */
function refusedAt(
  now: number,
  created: number,
  policy: Readonly<Record<string, Json>>,
): Refusal | undefined {
  const batch = {
    status: 'validating',
    created_at: formatInstant(created),
    _emulator: { organization_id: 'o' },
  }
  const settings = {
    get: ({ key, default: otherwise }: { key: string; default: Json }) => policy[key] ?? otherwise,
  }
  const ask = { now, settings, caller: { organization_id: 'o' }, tx: { in: () => [batch] } }
  try {
    admitBatch(ask as unknown as Ask, 1)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

test.for<[string, (end: number) => Readonly<Record<string, Json>>, boolean]>([
  ['create rate', () => ({ 'limits.admission.create_rate': { limit: 1, window_s: WINDOW } }), true],
  [
    'global capacity with an end',
    (end) => ({ 'limits.admission.global_capacity': { limit: 0, until: formatInstant(end) } }),
    true,
  ],
  ['concurrency', () => ({ 'limits.admission.concurrency': { limit: 1, retry_after_s: WINDOW } }), false],
  [
    'global capacity without an end',
    () => ({ 'limits.admission.global_capacity': { limit: 1, retry_after_s: WINDOW } }),
    false,
  ],
])(
  'at 200 random fractions of a second, Reset and Retry-After of the policy %s are each a wait that is enough',
  {
    tags: ['R261', 'R262', 'R265', 'R266', 'T05'],
  },
  ([, policyFor, ends]) => {
    const instants = fc.tuple(fc.nat({ max: 9_999 }), fc.nat({ max: WINDOW * 1_000 - 1 }))
    fc.assert(
      fc.property(instants, ([skip, gap]) => {
        const created = T0 + skip
        const now = created + gap
        const policy = policyFor(created + WINDOW * 1_000)
        const { reset = 0, retryAfter = 0 } = refusedAt(now, created, policy)?.options.admission ?? {}
        expect(retryAfter).toBeGreaterThanOrEqual(1)
        expect(retryAfter).toBeLessThanOrEqual(WINDOW)
        expect(reset - Math.floor(now / 1000)).toBeLessThanOrEqual(WINDOW + 1)
        expect(reset * 1000).toBeGreaterThanOrEqual(now + (retryAfter - 1) * 1000)
        // Without an end, nothing but the end of another batch admits the creation.
        if (!ends) return
        for (const later of [reset * 1000, now + retryAfter * 1000])
          expect(refusedAt(later, created, policy)).toBeUndefined()
      }),
      { numRuns: 200 },
    )
  },
)
