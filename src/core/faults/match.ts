import { fitsGlob } from '../log/glob.ts'
import { compare, type Matchable, type Missed, type RequestMatch } from '../log/request-match.ts'
import { REDACTED, seal } from '../secrets.ts'
import { truncated } from '../words.ts'
import type { CountedBy, FaultMatch } from './rule.ts'

/** A request, as rules are compared with it. */
export interface RequestSubject extends Matchable {
  readonly kind: 'request'
  readonly connection?: { readonly id: string; readonly index: number } | undefined
  /** Id of the record that the path names; null for none. */
  readonly resource: string | null
  /** The parts that a description may quote; absent: all of them. */
  readonly kept?: (() => Pick<Matchable, 'query' | 'headers' | 'body'>) | undefined
}

/** A webhook that is about to be enqueued for a subscriber. */
interface WebhookSubject {
  readonly kind: 'webhook'
  readonly type: string
  readonly url: string
  /** Id of the record that it is about. */
  readonly resource: string
}

/** A connection before its first byte is read. */
interface ConnectionSubject {
  readonly kind: 'connection'
  readonly id: string
}

export type Subject = RequestSubject | WebhookSubject | ConnectionSubject

/** The first difference between a subject and the match of a rule, as a sentence; undefined when it fits. */
export function mismatch(match: FaultMatch | 'everything', subject: Subject): string | undefined {
  if (match === 'everything') return undefined
  if (subject.kind === 'webhook') return webhookMismatch(match, subject)
  if (subject.kind === 'connection') return connectionMismatch(match)
  const { api_key, principal_kind, connection_request_index, webhook: _, url: __, ...others } = match
  const [missed] = compare(others as RequestMatch, subject).missed
  if (missed !== undefined) {
    const { what, actual, expected } = loggable(missed, others as RequestMatch, subject)
    return differs(what, actual, expected)
  }
  const { caller, connection } = subject
  if (api_key !== undefined && (caller === undefined || !fitsGlob(api_key, caller.key_id)))
    return differs('api_key', caller?.key_id ?? null, api_key)
  if (principal_kind !== undefined && caller?.kind !== principal_kind)
    return differs('principal_kind', caller?.kind ?? null, principal_kind)
  if (connection_request_index !== undefined && connection?.index !== connection_request_index)
    return differs('connection_request_index', connection?.index ?? null, connection_request_index)
  return undefined
}

// The next request on a new connection is its first.
function connectionMismatch({ connection_request_index: index }: FaultMatch): string | undefined {
  return index === undefined || index === 1 ? undefined : differs('connection_request_index', 1, index)
}

// The description becomes part of the log, which keeps no secrets and no large bodies.
function loggable(missed: Missed, match: RequestMatch, subject: RequestSubject): Missed {
  if (subject.kept === undefined || !CARRIED.test(missed.what)) return missed
  const shown = compare(match, { ...subject, ...subject.kept() }).missed
  return shown.find(({ what }) => what === missed.what) ?? { ...missed, actual: REDACTED }
}

/** Parts of a request with values of the client's choice. */
const CARRIED = /^(?:query|header|body) /

function webhookMismatch({ webhook, url }: FaultMatch, subject: WebhookSubject): string | undefined {
  if (webhook !== undefined && !fitsGlob(webhook, subject.type))
    return differs('webhook', subject.type, webhook)
  return url !== undefined && !fitsGlob(url, subject.url) ? differs('url', subject.url, url) : undefined
}

/** The key under which a subject is counted; null when the rule counts by none. */
export function counterKey(by: readonly CountedBy[], subject: Subject): string | null {
  return by.length === 0 ? null : by.map((each) => keyPart(part(each, subject) ?? '-')).join(' ')
}

/** Maximum length of a value in a counter key; a longer one is replaced by its digest. */
const MAX_PART_LENGTH = 200

// Callers choose these values: they can be long, and contain the space that separates two of them.
function keyPart(value: string): string {
  return value.length > MAX_PART_LENGTH ? seal(value) : value.replaceAll(' ', '%20')
}

function part(by: CountedBy, subject: Subject): string | null | undefined {
  if (by === 'resource_id') return subject.kind === 'connection' ? null : subject.resource
  if (by === 'connection' && subject.kind === 'connection') return subject.id
  if (subject.kind !== 'request') return null
  const { caller, connection, headers, operation } = subject
  if (by === 'connection') return connection?.id
  if (by === 'api_key') return caller?.key_id
  if (by === 'operation') return operation
  if (by === 'idempotency_key') return headers['idempotency-key']
  return by === 'tag' ? headers['x-emulator-tag'] : null
}

function differs(what: string, actual: unknown, expected: unknown): string {
  const is = actual === null ? 'absent' : truncated(JSON.stringify(actual))
  return `The ${truncated(what)} is ${is}, not ${truncated(JSON.stringify(expected))}.`
}
