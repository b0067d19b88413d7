import { refuse } from '../../errors.ts'
import { type Admission, type Limit, policyFields } from '../../request/rate-limiter.ts'
import { END_OF_TIME } from '../../time/clock.ts'
import { formatInstant, SECOND } from '../../time/instant.ts'
import { allOf, type QuotaFault } from '../actions.ts'
import type { Decision } from '../decision.ts'
import type { HeaderList } from './headers.ts'
import { respondOf } from './respond.ts'

/** What the rules say of the limiter: of each parameter, what was given last. */
export function quotaOf({ actions }: Decision): QuotaFault | undefined {
  const all = allOf(actions, 'quota')
  return all.length === 0 ? undefined : Object.assign({}, ...all)
}

/** What the headers of an answer are to say. An injected 429 is told as the service would tell it: nothing remains. */
export function toldQuota(decision: Decision): QuotaFault | undefined {
  const respond = respondOf(decision)
  return quotaOf(decision) ?? (respond?.status === 429 ? { reject: true } : undefined)
}

/** Where a request is refused. */
export interface RefusedAt {
  /** Name of the operation. */
  readonly operation: string
  readonly limit: Limit
  /** What the request would have found in its window. */
  readonly found: Admission
  /** Milliseconds of the clock that rate windows go by. */
  readonly now: number
}

/** Refuses with 429. The window is left as it is: a refused request takes no place (T04). */
export function refuseByQuota(fault: QuotaFault, { operation, limit, found, now }: RefusedAt): never {
  const admission = claimed(fault, found, now)
  const tells = retryAfter(fault, admission, now) !== undefined
  refuse('rate_limit_exceeded', {
    detail:
      fault.policy === undefined
        ? `The limit of ${operation} in this teamspace is ${admission.limit} per ${fault.window_s ?? limit.window / SECOND} s.`
        : `The policy ${fault.policy} has no place for the request.`,
    details: { reason: 'rate_limit_exceeded' },
    ...(tells && { mitigation: 'Wait as long as Retry-After says.' }),
    admission,
    assumed: [fault.policy === undefined ? 'U065' : 'U064'],
  })
}

/** What the limiter said, as a rule has it told. Numbers are kept as they are given: fractional, negative or huge. */
export function claimed(fault: QuotaFault, found: Admission, now: number): Admission {
  const { reject = false, reset_in_s: seconds } = fault
  const limit = fault.limit ?? found.limit
  const used = found.limit - found.remaining
  const remaining = fault.remaining ?? (reject ? 0 : Math.max(0, limit - used))
  const admitted = found.admitted && !reject
  const reset = seconds === undefined ? found.reset : Math.ceil(now / SECOND + seconds)
  const claim = { admitted, limit, remaining, reset }
  if (admitted && remaining > 0 && fault.retry_after === undefined) return claim
  const wait = seconds ?? found.retryAfter ?? Math.max(1, Math.ceil(found.reset - now / SECOND))
  return { ...claim, retryAfter: wait }
}

/** The rate-limit headers of an answer, in the form that a rule asks for. `window`: milliseconds of the operation's own. */
export function quotaFields(
  fault: QuotaFault,
  admission: Admission,
  { window }: Limit,
  now: number,
): HeaderList {
  const { fields = 'x-ratelimit', policy = 'default', window_s } = fault
  const { limit, remaining } = admission
  const wait = fault.reset_in_s ?? admission.reset - now / SECOND
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
    headers.push(...policyFields({ policy, limit, remaining, wait, window: span }))
  }
  const after = retryAfter(fault, admission, now)
  if (after !== undefined) headers.push(['Retry-After', after])
  return headers
}

function retryAfter(fault: QuotaFault, admission: Admission, now: number): string | undefined {
  const { retry_after: form = 'seconds' } = fault
  if (form === 'missing' || admission.retryAfter === undefined) return undefined
  if (typeof form === 'object') return form.text
  return form === 'seconds' ? digits(admission.retryAfter) : httpDate(now + admission.retryAfter * SECOND)
}

function resetText(fault: QuotaFault, { reset }: Admission, now: number): string {
  const seconds = fault.reset_in_s
  const instant = seconds === undefined ? reset * SECOND : now + seconds * SECOND
  switch (fault.reset_format ?? 'epoch-seconds') {
    case 'epoch-seconds':
      return digits(reset)
    case 'epoch-milliseconds':
      return digits(Math.round(instant))
    case 'seconds':
      return digits(seconds ?? Math.ceil(reset - now / SECOND))
    case 'http-date':
      return httpDate(instant)
    case 'iso':
      return formatInstant(inCalendar(instant))
  }
}

// Whole seconds: rounded up, so that anyone who waits for the date has waited long enough.
function httpDate(instant: number): string {
  return new Date(inCalendar(Math.ceil(instant / SECOND) * SECOND)).toUTCString()
}

// Dates have years of four digits.
function inCalendar(instant: number): number {
  return Math.min(END_OF_TIME, Math.max(0, instant))
}

/** A number in digits alone where it is whole, however large; what became infinite in reckoning, as the largest there is. */
function digits(value: number): string {
  const finite = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value))
  return Number.isInteger(finite) ? BigInt(finite).toString() : String(finite)
}
