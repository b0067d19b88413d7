import { z } from 'zod'
import { policySyntax } from '../core-assumptions.ts'
import { refuse } from '../errors.ts'
import { intBetween } from '../fields.ts'
import { windowKey } from '../request/access.ts'
import { type HeaderList, headerValue } from '../request/headers.ts'
import { type Admission, type Limit, type PolicySyntax, policyFields } from '../request/rate-limiter.ts'
import { either, form, someOf, strictObject } from '../strict-input.ts'
import { formatInstant, SECOND } from '../time/instant.ts'
import type { ParametersOf } from './primitive.ts'
import { within } from './skew.ts'
import type { Fault, RatePart, StatePrimitive } from './state-primitive.ts'

/** The three forms of a date in HTTP (RFC 9110, 5.6.7). A server sends the first one; a client must accept all. */
const DATE_FORMS = ['http-date', 'rfc850-date', 'asctime-date'] as const

/** Changes the decision of the rate limiter about a request, and the headers that report it. */
export type QuotaFault = ParametersOf<typeof schema>

function schema() {
  const count = () => intBetween(0, Number.MAX_SAFE_INTEGER).optional()
  const forms = ['seconds', ...DATE_FORMS, 'missing'] as const
  const retryAfter = either<(typeof forms)[number] | { readonly text: string }>(
    `must be ${forms.map((name) => `"${name}"`).join(', ')}, or {"text": "..."}`,
    form.text(z.enum(forms)),
    form.object(strictObject({ text: headerValue() })),
  )
  return someOf({
    limit: count(),
    remaining: count(),
    /** Seconds until a place in the window becomes free. May be fractional, negative or larger than any clock. */
    reset_in_s: z.number().optional(),
    /** Length of the window in the IETF fields, in seconds. */
    window_s: z.number().positive().optional(),
    /** Name of the policy in the IETF fields and in the error message: `org-concurrency`. */
    policy: z
      .string()
      .regex(/^[\x20-\x7e]{1,200}$/, 'must have 1 to 200 characters of ASCII')
      .optional(),
    /** Unit of the quota in RateLimit-Policy, such as `concurrent-requests`. Default: requests. */
    unit: z.enum(['requests', 'content-bytes', 'concurrent-requests']).optional(),
    /** Refuses the request with 429. */
    reject: z.boolean().optional(),
    /** Default `x-ratelimit`: X-RateLimit headers. `ietf`: RateLimit and RateLimit-Policy. `both`, or `none` of them. */
    fields: z.enum(['x-ratelimit', 'ietf', 'both', 'none']).optional(),
    /** How Retry-After is written; default `seconds`. `missing` leaves it out. */
    retry_after: retryAfter.optional(),
    /** How X-RateLimit-Reset is written; default `epoch-seconds`. */
    reset_format: z.enum(['epoch-seconds', 'epoch-milliseconds', 'seconds', 'http-date', 'iso']).optional(),
  })
}

export const quota: StatePrimitive<'quota', typeof schema> = {
  name: 'quota',
  kind: 'state',
  description: 'the decision of the rate limiter, and the form of its headers',
  schema,
  example: { parameters: { reject: true, remaining: 0, reset_in_s: 2 } },
  step: () => 'rateLimit',
  effect: {
    rateLimit: (fault) => {
      const parameters = merged(fault)
      if (parameters.reject === true) reject(fault, parameters)
    },
    rate: (fault, found) => ratePart(fault, merged(fault), found),
  },
}

/** The last value of each parameter. */
function merged({ given }: Fault<QuotaFault>): QuotaFault {
  return Object.assign({}, ...given.map(({ parameters }) => parameters))
}

// The window does not change: a refused request takes no place (T04).
function reject({ sandbox, exchange }: Fault<QuotaFault>, fault: QuotaFault): never {
  const { windows, now } = sandbox.limits
  const limit = sandbox.limits.of(exchange.call.operation.name)
  const admission = claimed(fault, windows.peek(windowKey(sandbox, exchange), limit, now), now)
  const hasRetryAfter = retryAfter(fault, admission, now) !== undefined
  refuse('rate_limit_exceeded', {
    detail:
      fault.policy === undefined
        ? `The limit of ${exchange.call.operation.name} in this teamspace is ${admission.limit} per ${fault.window_s ?? limit.window / SECOND} s.`
        : `The policy ${fault.policy} allows no further request.`,
    ...(hasRetryAfter && { mitigation: 'Wait for the time given in Retry-After.' }),
    admission,
    assumed: fault.policy === undefined ? [] : [[policySyntax.item, policySyntax]],
  })
}

/** The rate-limit part of a response, changed by a rule. */
export function ratePart(
  { sandbox, exchange }: Pick<Fault<unknown>, 'sandbox' | 'exchange'>,
  fault: QuotaFault,
  found: Admission,
): RatePart {
  const now = sandbox.limits.now
  const admission = claimed(fault, found, now)
  const limit = sandbox.limits.of(exchange.call.operation.name)
  const headers = quotaFields(fault, admission, limit, now, exchange.settings.get(policySyntax))
  return { admission, headers }
}

/** The decision of the limiter, changed by a rule. Numbers may be fractional, negative or huge. */
export function claimed(fault: QuotaFault, found: Admission, now: number): Admission {
  const { reject = false, reset_in_s: seconds } = fault
  const limit = fault.limit ?? found.limit
  const used = found.limit - found.remaining
  const remaining = fault.remaining ?? (reject ? 0 : Math.max(0, limit - used))
  const admitted = found.admitted && !reject
  const reset = seconds === undefined ? found.reset : Math.ceil(now / SECOND + seconds)
  const wait = seconds ?? found.wait
  const claim = { admitted, limit, remaining, reset, wait }
  if (admitted && remaining > 0 && fault.retry_after === undefined) return claim
  return { ...claim, retryAfter: wait }
}

/** The rate-limit headers of a response, in the form that a rule sets. `window`: that of the operation, in milliseconds. */
export function quotaFields(
  fault: QuotaFault,
  admission: Admission,
  { window }: Limit,
  now: number,
  syntax?: PolicySyntax,
): HeaderList {
  const { fields = 'x-ratelimit', policy = 'default', window_s, unit } = fault
  const { limit, remaining, wait } = admission
  const headers: [string, string][] = []
  if (fields === 'x-ratelimit' || fields === 'both') {
    headers.push(
      ['X-RateLimit-Limit', digits(limit)],
      ['X-RateLimit-Remaining', digits(remaining)],
      ['X-RateLimit-Reset', resetText(fault, admission, now)],
    )
  }
  if (fields === 'ietf' || fields === 'both') {
    const span = window_s ?? (fault.policy === undefined ? window / SECOND : undefined)
    for (const field of policyFields({ policy, limit, remaining, wait, window: span, unit }, syntax))
      headers.push(field)
  }
  const after = retryAfter(fault, admission, now)
  if (after !== undefined) headers.push(['Retry-After', after])
  return headers
}

function retryAfter(fault: QuotaFault, admission: Admission, now: number): string | undefined {
  const { retry_after: form = 'seconds' } = fault
  if (form === 'missing' || admission.retryAfter === undefined) return undefined
  if (typeof form === 'object') return form.text
  if (form === 'seconds') return digits(admission.retryAfter)
  return httpDate(now + admission.retryAfter * SECOND, form)
}

function resetText(fault: QuotaFault, { reset, wait }: Admission, now: number): string {
  const seconds = fault.reset_in_s
  const instant = seconds === undefined ? reset * SECOND : now + seconds * SECOND
  switch (fault.reset_format ?? 'epoch-seconds') {
    case 'epoch-seconds':
      return digits(reset)
    case 'epoch-milliseconds':
      return digits(Math.round(instant))
    case 'seconds':
      return digits(wait)
    case 'http-date':
      return httpDate(instant)
    case 'iso':
      return formatInstant(within(instant))
  }
}

// Rounded up to whole seconds, so that a client that waits until the date has waited long enough.
function httpDate(instant: number, form: (typeof DATE_FORMS)[number] = 'http-date'): string {
  const at = new Date(within(Math.ceil(instant / SECOND) * SECOND))
  const text = at.toUTCString()
  const [name, day = '', month, year, time] = text.split(' ')
  if (form === 'rfc850-date') {
    const weekday = at.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' })
    return `${weekday}, ${day}-${month}-${year?.slice(-2)} ${time} GMT`
  }
  if (form === 'asctime-date')
    return `${name?.slice(0, -1)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`
  return text
}

/** Writes a whole number without an exponent, however large. Infinity, from an overflow, becomes `Number.MAX_VALUE`. */
function digits(value: number): string {
  const finite = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value))
  return Number.isInteger(finite) ? BigInt(finite).toString() : String(finite)
}
