import { z } from 'zod'
import { setting } from '../../core/assumptions.ts'
import { policySyntax } from '../../core/core-assumptions.ts'
import { refuse } from '../../core/errors.ts'
import { intBetween, timestamp } from '../../core/fields.ts'
import type { Request } from '../../core/operation.ts'
import { type PolicyState, policyFields, roundedUp } from '../../core/request/rate-limiter.ts'
import { SECOND } from '../../core/time/instant.ts'
import { batches } from './batches.ts'
import { countsAt } from './outcomes.ts'
import type { Batch } from './schema.ts'
import { isTerminal } from './states.ts'

const RETRY_AFTER = 30

/** The quota unit of policies that do not count requests per time, as the IETF draft names it. */
const CONCURRENT = 'concurrent-requests'

const RATE_WINDOW = 60

const MAX_LIMIT = 1_000_000_000
const limit = () => intBetween(0, MAX_LIMIT)
const seconds = () => intBetween(1, 86_400)

/** A policy as a number, as an object, or null. */
const policy = <T extends z.ZodRawShape>(shape: T, example: string) =>
  z.union([limit(), z.strictObject(shape), z.null()], {
    error: `must be null, an integer from 0, or an object such as ${example}`,
  })

/** A limit, and the seconds after which a retry is advised. */
const limited = () => ({ limit: limit(), retry_after_s: seconds().optional() })

const bound = () => policy(limited(), '{"limit": 5, "retry_after_s": 30}')

type Bound = NonNullable<z.output<ReturnType<typeof bound>>>

export const concurrencyPolicy = setting({
  key: 'limits.admission.concurrency',
  item: 'U064',
  description:
    'Decides how many unfinished batches an organization may have: null for any number, 5, or {"limit": 5, "retry_after_s": 30}.',
  schema: bound,
  default: null,
})

export const enqueuedItemsPolicy = setting({
  key: 'limits.admission.enqueued_items',
  item: 'U064',
  description:
    'Decides how many unfinished items the batches of an organization may have together: null, 10000, or {"limit": 10000, "retry_after_s": 30}.',
  schema: bound,
  default: null,
})

export const createRatePolicy = setting({
  key: 'limits.admission.create_rate',
  item: 'U064',
  description:
    'Decides how many batches an organization may create in a sliding window: null, 10 (per 60 s), or {"limit": 10, "window_s": 60}.',
  schema: () =>
    policy({ limit: intBetween(1, MAX_LIMIT), window_s: seconds() }, '{"limit": 10, "window_s": 60}'),
  default: null,
})

export const globalCapacityPolicy = setting({
  key: 'limits.admission.global_capacity',
  item: 'U064',
  description:
    'Decides how many unfinished batches all organizations may have together: null, 100, or {"limit": 0, "until": "2026-01-01T00:00:00Z", "retry_after_s": 30} for a shortage that ends.',
  schema: () =>
    policy({ ...limited(), until: timestamp().optional() }, '{"limit": 0, "until": "2026-01-01T00:00:00Z"}'),
  default: null,
})

/** A policy whose limit the batch would exceed. */
interface Shortage extends Omit<PolicyState, 'wait'> {
  /** The instant from which a retry may succeed, in milliseconds. */
  readonly frees: number
  readonly description: string
  /** What helps besides waiting. */
  readonly advice?: string
}

type Ask = Pick<Request<object, unknown>, 'tx' | 'now' | 'caller' | 'settings'>

/**
 * Refuses a creation that would exceed the limit of an admission policy, with `rate_limit_exceeded` and headers that describe
 * the policy. Specification: Limits / Rate limits.
 */
export function admitBatch(ask: Ask, items: number): void {
  const shortage = concurrency(ask) ?? enqueuedItems(ask, items) ?? createRate(ask) ?? globalCapacity(ask)
  if (shortage === undefined) return
  const { limit, frees, description, advice = '' } = shortage
  const times = roundedUp(frees, ask.now)
  refuse('rate_limit_exceeded', {
    detail: description,
    mitigation: `Wait ${times.wait} s, the value of Retry-After. If the virtual clock is frozen, advance it.${advice}`,
    headers: policyFields({ ...shortage, wait: times.wait }, ask.settings.get(policySyntax)),
    admission: {
      admitted: false,
      limit,
      // Not the places of the policy: Retry-After is present when nothing remains for the request.
      remaining: 0,
      ...times,
      retryAfter: times.wait,
    },
    assumed: [[policySyntax.item, policySyntax]],
  })
}

function concurrency(ask: Ask): Shortage | undefined {
  const bound = ask.settings.get(concurrencyPolicy)
  if (bound === null) return undefined
  const { limit, frees } = read(bound, ask)
  const unfinished = ofOrganization(ask).filter(isUnfinished).length
  if (unfinished < limit) return undefined
  const description = `The organization has ${unfinished} unfinished batches; the maximum is ${limit}.`
  return { policy: 'org-concurrency', limit, remaining: 0, frees, unit: CONCURRENT, description }
}

function enqueuedItems(ask: Ask, items: number): Shortage | undefined {
  const bound = ask.settings.get(enqueuedItemsPolicy)
  if (bound === null) return undefined
  const { limit, frees } = read(bound, ask)
  const enqueued = ofOrganization(ask)
    .filter(isUnfinished)
    .reduce((sum, batch) => sum + countsAt(batch, ask.now).processing, 0)
  if (enqueued + items <= limit) return undefined
  const description = `The organization has ${enqueued} unfinished items and requests ${items} more; the maximum is ${limit}.`
  const remaining = Math.max(0, limit - enqueued)
  const shortage = { policy: 'org-enqueued-items', limit, remaining, frees, description }
  if (items <= limit) return shortage
  const way = `raise the limit, or split it into batches of at most ${limit} items`
  return { ...shortage, advice: ` The batch alone has more items than the limit: ${way}.` }
}

function createRate(ask: Ask): Shortage | undefined {
  const rate = ask.settings.get(createRatePolicy)
  if (rate === null) return undefined
  const { limit, window_s: window } = typeof rate === 'number' ? { limit: rate, window_s: RATE_WINDOW } : rate
  const created = ofOrganization(ask)
    .map((batch) => Date.parse(batch.created_at))
    .filter((instant) => instant + window * SECOND > ask.now)
    .sort((a, b) => a - b)
  if (created.length < limit) return undefined
  const frees = (created[created.length - limit] ?? ask.now) + window * SECOND
  const description = `The organization created ${created.length} batches within ${window} s; the maximum is ${limit}.`
  return { policy: 'org-create-rate', limit, remaining: 0, frees, window, description }
}

function globalCapacity(ask: Ask): Shortage | undefined {
  const capacity = ask.settings.get(globalCapacityPolicy)
  if (capacity === null) return undefined
  const until = typeof capacity === 'number' ? undefined : capacity.until
  const end = until === undefined ? undefined : Date.parse(until)
  if (end !== undefined && end <= ask.now) return undefined
  const { limit, frees } = read(capacity, ask)
  const unfinished = [...ask.tx.in(batches)].filter(isUnfinished).length
  if (unfinished < limit) return undefined
  return {
    policy: 'global-capacity',
    limit,
    remaining: 0,
    unit: CONCURRENT,
    frees: end ?? frees,
    description: 'The service has no capacity for more batches.',
  }
}

function read(bound: Bound, { now }: Ask): { readonly limit: number; readonly frees: number } {
  const { limit, retry_after_s } = typeof bound === 'number' ? { limit: bound } : bound
  return { limit, frees: now + (retry_after_s ?? RETRY_AFTER) * SECOND }
}

function ofOrganization({ tx, caller }: Ask): Batch[] {
  return tx
    .in(batches)
    .filter(({ _emulator: { organization_id } }) => organization_id === caller.organization_id)
}

function isUnfinished({ status }: Batch): boolean {
  return !isTerminal(status)
}
