import { createHash } from 'node:crypto'
import { isObject } from './json.ts'

/** What stands in the place of a secret. */
export const REDACTED = '(redacted)'

const MARK = 'sha256:'
const SEALED = /^sha256:[0-9a-f]{64}$/

/**
 * Turns a secret (an API key, a claim token, an OAuth state) into the digest that the world keeps, so that neither the
 * state file nor an export nor a log can give the secret away. A sealed value stays as it is.
 */
export function seal(secret: string): string {
  if (isSealed(secret)) return secret
  return MARK + createHash('sha256').update(secret).digest('hex')
}

/** True for what {@link seal} returns. Where a caller presents a secret, a sealed one must be refused. */
export function isSealed(secret: string): boolean {
  return SEALED.test(secret)
}

/** Replaces the named members of a record by their digests. Members that are absent or not strings stay as they are. */
export function sealMembers<T extends object>(record: T, members: readonly string[]): T {
  let sealed = record
  for (const member of members) {
    const value = (record as Record<string, unknown>)[member]
    if (typeof value === 'string') sealed = { ...sealed, [member]: seal(value) }
  }
  return sealed
}

/** A setting as others than the state document may show it: those about webhooks have secrets to sign with. */
export function withoutSecret(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecret)
  if (!isObject(value)) return value
  const members = Object.entries(value)
  return Object.fromEntries(
    members.map(([name, each]) => [name, name === 'secret' ? REDACTED : withoutSecret(each)]),
  )
}
