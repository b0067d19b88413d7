import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import type { Admission } from '../request/rate-limiter.ts'
import { claimed, type QuotaFault, quotaFields } from './quota.ts'

const NOW = Date.parse('2026-03-01T12:00:00.250Z')
const LIMIT = { limit: 200, window: 60_000 }

const number = fc.double({ noNaN: true, noDefaultInfinity: true })

const anyQuota: fc.Arbitrary<QuotaFault> = fc.record(
  {
    limit: number,
    remaining: number,
    reset_in_s: number,
    window_s: number,
    policy: fc.string(),
    reject: fc.boolean(),
    fields: fc.constantFrom('x-ratelimit', 'ietf', 'both', 'none'),
    retry_after: fc.constantFrom('seconds', 'http-date', 'rfc850-date', 'asctime-date', 'missing'),
    reset_format: fc.constantFrom('epoch-seconds', 'epoch-milliseconds', 'seconds', 'http-date', 'iso'),
  },
  { requiredKeys: [] },
)

const anyAdmission: fc.Arbitrary<Admission> = fc.nat({ max: 200 }).map((remaining) => {
  const found = { admitted: true, limit: 200, remaining, reset: Math.ceil(NOW / 1000) + 60, wait: 60 }
  return remaining === 0 ? { ...found, retryAfter: 60 } : found
})

// The three forms of RFC 9110, 5.6.7.
const DATE =
  /^(\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]+day, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT|\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/

test('headers are valid for any numbers of a rule, and dates have one of the three forms of HTTP', () =>
  forAll(anyQuota, anyAdmission, (fault, found) => {
    const headers = quotaFields(fault, claimed(fault, found, NOW), LIMIT, NOW)
    for (const [name, value] of headers) {
      // Quoted parts are names of policies, which may be any text.
      expect(value.replaceAll(/"[^"]*"/g, ''), name).not.toMatch(/invalid|undefined|NaN|Infinity/i)
      if (/ \d\d:/.test(value) && !value.includes('"')) expect(value, name).toMatch(DATE)
    }
  }))

test('a rule that is applied twice has the same result as once', () =>
  forAll(anyQuota, anyAdmission, (fault, found) => {
    const once = claimed(fault, found, NOW)
    expect(claimed(fault, once, NOW)).toEqual(once)
  }))

test('a rule without parameters keeps the decision of the limiter', () =>
  forAll(anyAdmission, (found) => {
    expect(claimed({}, found, NOW)).toEqual(found)
    const [limit, remaining, reset] = quotaFields({}, found, LIMIT, NOW).map(([, value]) => Number(value))
    expect([limit, remaining, reset]).toEqual([found.limit, found.remaining, found.reset])
  }))
