import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Refusal } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { admitBatch } from './admission.ts'

type Policy = Readonly<Record<string, Json>>
type Ask = Parameters<typeof admitBatch>[0]

const T0 = Date.parse('2026-03-01T12:00:00.000Z')
const WINDOW = 10

/** The refusal of a creation at an instant, after one batch was created at another; undefined when it is admitted. */
function refusedAt(now: number, created: number, policy: Policy): Refusal | undefined {
  const created_at = formatInstant(created)
  const batch = { status: 'validating', created_at, _emulator: { organization_id: 'o' } }
  const get = ({ key, default: otherwise }: { key: string; default: Json }) => policy[key] ?? otherwise
  const settings = { get }
  const ask = { now, settings, caller: { organization_id: 'o' }, tx: { in: () => [batch] } }
  try {
    admitBatch(ask as unknown as Ask, 1)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

const limits = { limit: 1, retry_after_s: WINDOW }

test.for<[policy: string, of: (end: number) => Json, ends: boolean]>([
  ['create_rate', () => ({ limit: 1, window_s: WINDOW }), true],
  ['global_capacity', (end) => ({ limit: 0, until: formatInstant(end) }), true],
  ['global_capacity', () => limits, false],
  ['concurrency', () => limits, false],
])('the waits of %s are enough', { tags: ['R261', 'R262', 'R265', 'R266', 'T05'] }, ([name, of, ends]) => {
  const instants = fc.tuple(fc.nat({ max: 9_999 }), fc.nat({ max: WINDOW * 1_000 - 1 }))
  const property = fc.property(instants, ([skip, gap]) => {
    const created = T0 + skip
    const now = created + gap
    const policy = { [`limits.admission.${name}`]: of(created + WINDOW * 1_000) }
    const { reset = 0, retryAfter = 0 } = refusedAt(now, created, policy)?.options.admission ?? {}
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect(retryAfter).toBeLessThanOrEqual(WINDOW)
    expect(reset - Math.floor(now / 1000)).toBeLessThanOrEqual(WINDOW + 1)
    expect(reset * 1000).toBeGreaterThanOrEqual(now + (retryAfter - 1) * 1000)
    // Without an end, nothing but the end of another batch admits the creation.
    if (!ends) return
    for (const later of [reset * 1000, now + retryAfter * 1000])
      expect(refusedAt(later, created, policy)).toBeUndefined()
  })
  fc.assert(property, { numRuns: 200 })
})
