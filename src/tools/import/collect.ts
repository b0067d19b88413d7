import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { AnyOperation } from '../../core/operation.ts'
import { Placeholders } from '../../core/record/placeholders.ts'
import { isDistinct, isSecretName, mapCredentials } from '../../core/redaction.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { decoded, RouteTable } from '../../server/route-table.ts'
import { RECEIVED_KINDS, type Received, type ReceivedKind } from '../../service/imported.ts'
import {
  bodyOf,
  byName,
  exchangeOf,
  type HarEntry,
  type HarExchange,
  PLAIN_SEGMENT,
  pathBelow,
  whyNoBody,
  whyNot,
} from '../drift/har.ts'

/** An object that was received, in its newest state. */
export interface Found extends Received {
  /** Undefined for one of a collection of the user. */
  readonly kind: ReceivedKind | undefined
  /** The collection of the user that it belongs to unless it fits one of the service. */
  readonly own: string
  /** Whose objects these are: the credential of the request. */
  readonly credential: string
}

/** What the entries of HAR files contain. */
export class Collected {
  readonly found = new Map<string, Found>()
  /** The number of exchanges with objects, by collection. */
  readonly exchanges = new Map<string, number>()
  /** What was left out, and how often. */
  readonly leftOut: Record<string, number> = {}
  /** The paths that the emulator does not answer from records. */
  readonly unanswered = new Set<string>()
  readonly secrets = new Placeholders()
  /** The newest instant of an exchange, in milliseconds; 0 before the first. */
  newest = 0
  used = 0
  readonly #base: string
  readonly #routes: RouteTable<AnyOperation>
  readonly #see: ((exchange: HarExchange) => void) | undefined
  /** The successful exchanges with an operation, when the state before the traffic is wanted; undefined: the newest. */
  readonly succeeded: Omit<Found, 'kind'>[] | undefined
  /** The keys of the objects that the traffic has created. */
  readonly created = new Set<string>()

  /**
   * @param see gets each exchange with an operation that has a contract
   * @param isEarliest whether objects are kept as they were first, without those that an operation with a contract has created
   */
  constructor(
    base: string,
    operations: Iterable<AnyOperation>,
    see?: (exchange: HarExchange) => void,
    isEarliest = false,
  ) {
    this.#base = base
    this.#routes = new RouteTable(operations)
    this.#see = see
    this.succeeded = isEarliest ? [] : undefined
  }

  leaveOut(reason: string): void {
    this.leftOut[reason] = (this.leftOut[reason] ?? 0) + 1
  }

  /** Adds an entry of a file; undefined: it is no exchange. */
  add(har: HarEntry | undefined): void {
    const reason = this.#read(har)
    if (reason !== undefined) this.leaveOut(reason)
  }

  /** Keeps what an entry shows. Returns why it shows nothing. */
  #read(har: HarEntry | undefined): string | undefined {
    const path = pathBelow(this.#base, har)
    const match = har && path !== undefined ? this.#routes.match(har.request.method, path) : undefined
    const reason = whyNot(har, match)
    if (har === undefined || path === undefined || reason !== undefined) return reason ?? 'another address'
    const operation = match?.kind === 'route' ? match.route : undefined
    const { method, postData } = har.request
    const { status, content } = har.response
    if (operation?.contract) this.#see?.(exchangeOf(0, har, operation))
    const sent = bodyOf(postData, false).value
    const headers = byName(har.response.headers)
    const media = headers['content-type'] ?? content.mimeType ?? ''
    const received = bodyOf(content, media.includes('ndjson'))
    if (this.succeeded === undefined) this.#hideSecrets(har, sent, received.value)
    const end = Date.parse(har.startedDateTime) + Math.max(0, har.time)
    if (end > this.newest) this.newest = end
    if (status >= 300) return `status ${status}`
    const place = placeOf(path, received.value)
    const params = match?.kind === 'route' ? match.params : place.params
    if (operation === undefined || operation.isUnanswered)
      this.unanswered.add(`${method} ${operation?.path ?? place.template}`)
    const common = {
      ...{ operation: operation?.name, params, own: place.own },
      credential: byName(har.request.headers).authorization ?? '',
      at: formatInstant(Number.isNaN(end) ? this.newest : end),
      sent: operation?.name.endsWith('.create') ? sent : undefined,
    }
    if (operation?.contract && isObject(received.value ?? {}))
      this.succeeded?.push({ ...common, sent, shown: (received.value ?? {}) as JsonObject })
    const creates = this.succeeded !== undefined && operation?.contract === true && common.sent !== undefined
    if (method === 'DELETE')
      return this.#remove({ ...common, shown: { id: decoded(path.replace(/.*\//, '')) ?? '' } })
    if (received.body === 'unknown') return whyNoBody(content)
    if (received.value === undefined) return received.body === 'none' ? 'no body' : 'body is not JSON'
    const kinds = new Set<string>()
    for (const [shown, isInner] of objectsIn(received.value)) {
      const kind = this.#keep({ ...common, shown }, isInner, creates)
      if (kind !== undefined) kinds.add(kind)
    }
    this.used += kinds.size > 0 ? 1 : 0
    for (const kind of kinds) this.exchanges.set(kind, (this.exchanges.get(kind) ?? 0) + 1)
    return undefined
  }

  #keep(each: Omit<Found, 'kind'>, isInner: boolean, isNew: boolean): string | undefined {
    const kind = RECEIVED_KINDS.find(({ is }) => is(each))
    const collection = kind?.collection ?? each.own
    const named = kind?.keyOf?.(each) ?? each.shown.id
    if (typeof named !== 'string' && typeof named !== 'number') {
      if (!isInner) this.leaveOut('object without an id')
      return undefined
    }
    if (isInner && kind === undefined) return undefined
    const key = `${collection}/${named}`
    const known = this.found.get(key)
    if (isNew) this.created.add(key)
    if (this.created.has(key) || (known && this.succeeded)) return collection
    // An object inside another one may be a part of its record.
    if (known === undefined || (known.at <= each.at && !isInner))
      this.found.set(key, { ...each, kind, sent: each.sent ?? known?.sent })
    return collection
  }

  #remove(each: Omit<Found, 'kind'>): string {
    if (this.succeeded) return 'deletion'
    const prefix = each.operation?.replace(/\..*/, '').replaceAll('-', '_')
    const kind = RECEIVED_KINDS.find(({ is, collection }) => collection === prefix || is(each))
    const key = kind?.keyOf?.(each) ?? each.shown.id
    const isKnown = this.found.delete(`${kind?.collection ?? each.own}/${key}`)
    return isKnown ? 'record that was deleted' : 'deletion'
  }

  #hideSecrets({ request, response }: HarEntry, sent: unknown, received: unknown): void {
    const hide = (secret: string) => {
      if (isDistinct(secret)) this.secrets.add(secret)
      return secret
    }
    for (const { name, value } of [...request.headers, ...response.headers])
      if (isSecretName(name)) mapCredentials(value, hide)
    for (const [name, value] of request.url.searchParams) if (isSecretName(name)) hide(value)
    for (const value of [sent, received]) this.secrets.addAll(value, [])
  }
}

/** The objects of a response, and those inside of them that name their kind. */
function* objectsIn(value: Json, isInner = false): Iterable<readonly [JsonObject, isInner: boolean]> {
  if (Array.isArray(value)) for (const each of value) yield* objectsIn(each, isInner)
  if (!isObject(value)) return
  const isList = Array.isArray(value.data) && value.id === undefined
  const isNamed = typeof value.object === 'string' && value.id !== undefined
  if (!isList && (!isInner || isNamed)) yield [value, isInner]
  for (const [name, each] of Object.entries(value))
    if (typeof each === 'object') yield* objectsIn(each, isInner || !(isList && name === 'data'))
}

/** The template of a path that no operation has, and the collection of its records. */
function placeOf(path: string, received: Json | undefined) {
  const segments = path.split('/').slice(1)
  const params: Record<string, string> = {}
  const ids = new Set<unknown>(isObject(received) ? [received.id] : [])
  let own = 'imported'
  const template = segments.map((segment, n) => {
    if (PLAIN_SEGMENT.test(segment) && !ids.has(segment)) {
      own = segment
      return segment
    }
    const before = segments[n - 1] ?? 'record'
    const name = PLAIN_SEGMENT.test(before)
      ? `${before.replace(/ies$/, 'y').replace(/s$/, '').replaceAll('-', '_')}_id`
      : `id_${n}`
    params[name] = segment
    return `{${name}}`
  })
  return { template: `/${template.join('/')}`, params, own }
}
