import { compareBodies, type KeyScope, keyLength, keyScope } from '../core-assumptions.ts'
import { refuseInvalid } from '../errors.ts'
import type { Json } from '../json.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { Exchange } from './exchange.ts'
import {
  fingerprint,
  fingerprintBytes,
  idempotencyId,
  recallResponse,
  rememberResponse,
} from './idempotency.ts'
import { statusOf } from './response.ts'

/** The Idempotency-Key of a request; undefined when none applies. Refuses a repeated key and a key of the wrong length. */
export function idempotencyKeyOf(exchange: Exchange): string | undefined {
  const { operation, headers, body } = exchange.call
  const key = headers['idempotency-key']
  if (operation.idempotent !== true || key === undefined || body.kind !== 'json') return undefined
  const isRepeated = exchange.call.repeated?.includes('idempotency-key') === true
  const longest = exchange.settings.get(keyLength)
  if (isRepeated || key === '' || key.length > longest) {
    exchange.note(keyLength.item, keyLength)
    const detail = isRepeated ? 'must be given once' : `must have 1 to ${longest} characters, or be left out`
    refuseInvalid([{ pointer: '/headers/idempotency-key', detail }])
  }
  return key
}

/** The id of the record under which the response of a request is kept. */
export function idempotencyRowOf(exchange: Exchange, key: string): string {
  const { call, keyScope: scope = exchange.settings.get(keyScope) } = exchange
  return idempotencyId(placeOf(scope, exchange), call.operation.name, key)
}

/** The place in which keys are unique, as the first part of the id of a record. */
function placeOf(scope: KeyScope, { caller }: Exchange): string {
  if (scope === 'organization') return `@organization:${caller.organization_id}`
  return scope === 'api_key' ? `@api_key:${caller.key_id}` : caller.teamspace_id
}

/**
 * Looks up the response stored under the Idempotency-Key of a request. Refuses a key that was used with another body.
 * Specification: Limits / Batch predictions.
 * @returns whether that response is the reply
 */
export function replay(exchange: Exchange): boolean {
  const key = idempotencyKeyOf(exchange)
  if (key === undefined) return false
  const { tx, now, mismatchStatus } = exchange
  exchange.idempotency = 'conflict'
  const id = idempotencyRowOf(exchange, key)
  const record = recallResponse(tx, id, fingerprintOf(exchange), now, mismatchStatus)
  exchange.idempotency = record === undefined ? 'fresh' : 'replay'
  if (record === undefined) return false
  // Every replay relies on the scope of keys, and on the assumptions of the first response.
  exchange.note(keyScope.item, keyScope)
  for (const item of record.assumed ?? []) exchange.note(item)
  exchange.reply = { status: record.status, body: record.body as object }
  return true
}

/** Stores the response under the key, if there is one, and commits all writes of the request. */
export function commit(sandbox: Sandbox, exchange: Exchange): void {
  const { idempotency, reply, call } = exchange
  if (idempotency === 'fresh') {
    const id = idempotencyRowOf(exchange, call.headers['idempotency-key'] ?? '')
    const response = {
      status: statusOf(exchange),
      body: (reply?.body ?? null) as Json,
      assumed: [...exchange.assumed],
    }
    rememberResponse(exchange.tx, { id, fingerprint: fingerprintOf(exchange), ...response }, exchange.now)
  }
  exchange.commit = sandbox.commit(exchange)
}

function fingerprintOf(exchange: Exchange): string {
  const { call, settings } = exchange
  if (call.body.kind !== 'json') return ''
  const { value, bytes } = call.body
  const isExact = settings.get(compareBodies) === 'bytes' && bytes !== undefined
  exchange.fingerprint ??= isExact ? fingerprintBytes(bytes) : fingerprint(value, bytes)
  return exchange.fingerprint
}
