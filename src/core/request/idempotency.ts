import { createHash } from 'node:crypto'
import { z } from 'zod'
import { refuse } from '../errors.ts'
import { timestamp } from '../fields.ts'
import { isObject, type Json } from '../json.ts'
import type { Transaction } from '../state/transaction.ts'
import { DAY, formatInstant } from '../time/instant.ts'
import { withExactNumbers } from './exact-numbers.ts'

/** The table of idempotency records. */
export const IDEMPOTENCY = '$idempotency'

/** A record replays for exactly 24 hours, then its key is free again. Specification: Limits / Batch predictions. */
const IDEMPOTENCY_LIFETIME = DAY

/** The response stored under a key. */
export const idempotencyRecord = () =>
  z.strictObject({
    id: z.string(),
    fingerprint: z.string(),
    status: z.number().int().min(200).max(599),
    body: z.unknown(),
    /** The open assumptions that the response relied on. */
    assumed: z.array(z.string()).exactOptional(),
    created_at: timestamp(),
    expires_at: timestamp(),
  })

type IdempotencyRecord = z.output<ReturnType<typeof idempotencyRecord>>

/** The id of a record. A key is unique in one place, by default a teamspace, and one operation (U059). */
export function idempotencyId(place: string, operation: string, key: string): string {
  return `${place} ${operation} ${key}`
}

/**
 * The record stored under a key, for a replay; undefined for a first use or after the record has expired. Refuses the same
 * key with another body with `idempotency_key_reused`.
 * @param mismatch the status of that refusal; the catalog's when absent
 */
export function recallResponse(
  tx: Transaction,
  id: string,
  fingerprint: string,
  now: number,
  mismatch?: number,
): IdempotencyRecord | undefined {
  const record = tx.get(IDEMPOTENCY, id) as IdempotencyRecord | undefined
  if (record === undefined || Date.parse(record.expires_at) <= now) return undefined
  if (record.fingerprint === fingerprint) return record
  return refuse('idempotency_key_reused', {
    detail: `The Idempotency-Key was first used at ${record.created_at} with a different body.`,
    ...(mismatch !== undefined && { status: mismatch }),
  })
}

/** Stores an accepted response, and deletes the oldest records that have expired, so that the table stays small. */
export function rememberResponse(
  tx: Transaction,
  record: Omit<IdempotencyRecord, 'created_at' | 'expires_at'>,
  now: number,
): void {
  for (const row of tx.rows(IDEMPOTENCY)) {
    if (Date.parse((row as IdempotencyRecord).expires_at) > now) break
    tx.delete(IDEMPOTENCY, row.id)
  }
  const times = { created_at: formatInstant(now), expires_at: formatInstant(now + IDEMPOTENCY_LIFETIME) }
  tx.put(IDEMPOTENCY, { ...record, ...times })
}

/**
 * A digest of the parsed body: equal for bodies that differ only in white space, the order of fields and the form of numbers
 * (T10). With the bytes of the body, numbers that no double can tell apart also differ.
 */
export function fingerprint(body: Json, bytes?: Uint8Array): string {
  const exact = bytes && withExactNumbers(new TextDecoder().decode(bytes))
  const text = exact === undefined ? canonical(body) : `exact ${canonical(JSON.parse(exact) as Json)}`
  return createHash('sha256').update(text).digest('hex')
}

/** A digest of the body's bytes, for the setting that compares bytes. */
export function fingerprintBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function canonical(value: Json): string {
  if (Array.isArray(value)) {
    let text = '['
    for (const each of value) text += `${canonical(each)},`
    return `${text}]`
  }
  if (!isObject(value)) return JSON.stringify(value)
  let text = '{'
  for (const key of Object.keys(value).sort())
    text += `${JSON.stringify(key)}:${canonical(value[key] as Json)},`
  return `${text}}`
}
