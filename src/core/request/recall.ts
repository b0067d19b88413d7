import { compareBodies } from '../core-assumptions.ts'
import { refuseInvalid } from '../errors.ts'
import { beforeRecall, idemOf, placeOf } from '../faults/acts/idem.ts'
import type { Json } from '../json.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { statusOf } from './content.ts'
import type { Exchange } from './exchange.ts'
import { fingerprint, fingerprintBytes, idempotencyId, recallAnswer, rememberAnswer } from './idempotency.ts'

/**
 * Looks for the answer that the Idempotency-Key of a request stands for. Refuses a key of the wrong length, and one that
 * belongs to another body. Specification: Limits / Batch predictions.
 * @returns whether that answer is the reply
 */
export function recall(exchange: Exchange): boolean {
  const { operation, headers, body } = exchange.call
  const key = headers['idempotency-key']
  if (operation.idempotent !== true || key === undefined || body.kind !== 'json') return false
  if (key === '' || key.length > 255) {
    refuseInvalid([
      { pointer: '/headers/idempotency-key', detail: 'must have 1 to 255 characters, or be left out' },
    ])
  }
  const id = idempotencyOf(exchange, key)
  const fault = idemOf(exchange)
  beforeRecall(fault, exchange, id)
  exchange.idempotency = 'conflict'
  const record = recallAnswer(exchange.tx, id, fingerprintOf(exchange), exchange.now, fault.mismatch_status)
  exchange.idempotency = record === undefined ? 'fresh' : 'replay'
  if (record === undefined) return false
  exchange.reply = { status: record.status, body: record.body as object }
  return true
}

/** Keeps the answer under the key, where there is one, and commits all that the request has written. */
export function remember(sandbox: Sandbox, exchange: Exchange): void {
  const { idempotency, reply, call } = exchange
  if (idempotency === 'fresh') {
    const id = idempotencyOf(exchange, call.headers['idempotency-key'] ?? '')
    const answer = { status: statusOf(exchange), body: (reply?.body ?? null) as Json }
    rememberAnswer(exchange.tx, { id, fingerprint: fingerprintOf(exchange), ...answer }, exchange.now)
  }
  exchange.commit = sandbox.commit(exchange)
}

function idempotencyOf(exchange: Exchange, key: string): string {
  const { caller, call } = exchange
  const place = placeOf(idemOf(exchange), exchange) ?? caller.teamspace_id
  return idempotencyId(place, call.operation.name, key)
}

function fingerprintOf(exchange: Exchange): string {
  exchange.fingerprint ??= makeFingerprint(exchange)
  return exchange.fingerprint
}

function makeFingerprint({ call, settings }: Exchange): string {
  if (call.body.kind !== 'json') return ''
  const bytes = settings.get(compareBodies) === 'bytes' ? call.body.bytes : undefined
  return bytes === undefined ? fingerprint(call.body.value) : fingerprintBytes(bytes)
}
