import { fitsGlob, type SandboxClient, type WebhookDelivery } from '../index.ts'
import {
  countRule,
  countText,
  type ExpectedCount,
  fitsCount,
  type MatcherResult,
  missedLine,
  refuseMembers,
} from './matcher-result.ts'

/** Criteria for webhook deliveries. A delivery must match all of them; strings are globs. */
export interface DeliveryMatch {
  /** `batch_prediction.completed`, or `batch_prediction.*`. */
  readonly type?: string | undefined
  readonly url?: string | undefined
  /** The status of the delivery; `*` for any. Default `delivered`. */
  readonly status?: WebhookDelivery['status'] | '*' | undefined
  /** The record that it is about: `batch_predictions/ID`. */
  readonly ref?: string | undefined
  /** HTTP status of the receiver's last response. */
  readonly answered?: number | undefined
  /** The number of attempts so far. */
  readonly attempts?: number | undefined
}

const CRITERIA: readonly (keyof DeliveryMatch)[] = ['type', 'url', 'status', 'ref', 'answered', 'attempts']

/** The most deliveries that the message of a failure shows. */
const MAX_SHOWN = 5

/** Whether matching webhooks were delivered. Default of `count`: at least one. */
export async function delivered(
  sandbox: SandboxClient,
  match: DeliveryMatch = {},
  count?: ExpectedCount,
): Promise<MatcherResult> {
  refuseMembers('match', match, CRITERIA)
  const rule = countRule(count)
  const deliveries = await sandbox.webhooks.deliveries()
  const compared = deliveries.map((delivery) => ({ delivery, missed: missedBy(delivery, match) }))
  const actual = compared.filter(({ missed }) => missed.length === 0).length
  const pass = fitsCount(rule, actual)
  return {
    pass,
    message: () =>
      [
        `Expected ${sandbox.name} ${pass ? 'not ' : ''}to have delivered ${countText(rule, 'webhook')} with ${JSON.stringify(match)}; ${actual} of ${deliveries.length} ${actual === 1 ? 'matches' : 'match'}.`,
        ...(deliveries.length === 0 ? [NOTHING] : []),
        ...nearestFirst(compared).flatMap(lines),
      ].join('\n'),
  }
}

const NOTHING =
  'There is no delivery: subscribe before the batch ends (sandbox.webhooks.create), then advance the clock until it ends (sandbox.clock.advance).'

interface Compared {
  readonly delivery: WebhookDelivery
  readonly missed: readonly Missed[]
}

type Missed = Parameters<typeof missedLine>[0]

function missedBy(delivery: WebhookDelivery, match: DeliveryMatch): Missed[] {
  const { type = '*', url = '*', status = 'delivered', ref = '*', answered, attempts } = match
  const globs = [
    { what: 'type', expected: type, actual: delivery.type },
    { what: 'url', expected: url, actual: delivery.url },
    { what: 'status', expected: status, actual: delivery.status },
    { what: 'ref', expected: ref, actual: delivery.ref },
  ].filter(({ expected, actual }) => !fitsGlob(expected, actual))
  const numbers = [
    { what: 'answered', expected: answered, actual: delivery.attempts.at(-1)?.status ?? null },
    { what: 'attempts', expected: attempts, actual: delivery.attempts.length },
  ].filter(({ expected, actual }) => expected !== undefined && expected !== actual)
  return [...globs, ...numbers]
}

function nearestFirst(compared: readonly Compared[]): Compared[] {
  return [...compared].sort((a, b) => a.missed.length - b.missed.length).slice(0, MAX_SHOWN)
}

function lines({ delivery: { id, type, url, status, attempts }, missed }: Compared): string[] {
  const error = attempts.at(-1)?.error ?? null
  return [
    `  ${type} to ${url}  ${status}${error === null ? '' : `: ${error}`}  ${id}`,
    ...missed.map((criterion) => `    ${missedLine(criterion)}`),
  ]
}
