import { createHash } from 'node:crypto'
import { isObject } from './json.ts'

/** What is shown in the place of a secret. */
export const REDACTED = '(redacted)'

const MARK = 'sha256:'
const SEALED = /^sha256:[0-9a-f]{64}$/

/**
 * Turns a secret (an API key, a claim token, an OAuth state) into the digest that the sandbox keeps, so that neither the
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

/** Replaces the named fields of a record by their digests. Fields that are absent or not strings stay as they are. */
export function sealMembers<T extends object>(record: T, members: readonly string[]): T {
  let sealed = record
  for (const member of members) {
    const value = (record as Record<string, unknown>)[member]
    if (typeof value === 'string') sealed = { ...sealed, [member]: seal(value) }
  }
  return sealed
}

/** A value without its secrets: the fields named `secret`, which sign webhooks, have a mask instead. */
export function withoutSecret<T>(value: T): T
export function withoutSecret(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutSecret(each))
  if (!isObject(value)) return value
  const members = Object.entries(value)
  return Object.fromEntries(
    members.map(([name, each]) => [
      name,
      name === 'secret' && typeof each === 'string' ? REDACTED : withoutSecret(each),
    ]),
  )
}

/** Whether a value has a mask in the place of a secret. */
export function isMasked(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isMasked)
  if (!isObject(value)) return false
  return Object.entries(value).some(
    ([name, each]) => (name === 'secret' && each === REDACTED) || isMasked(each),
  )
}

/**
 * The inverse of {@link withoutSecret}: where a value has a mask, the secret that is stored in the same place. Items of a
 * list are the same by id, key or url. A mask stays where nothing is stored; the schema of the secret refuses it.
 */
export function withSecrets<T>(given: T, stored: unknown): T
export function withSecrets(given: unknown, stored: unknown): unknown {
  if (Array.isArray(given)) {
    const known = Array.isArray(stored) ? stored : []
    return given.map((each) =>
      withSecrets(
        each,
        known.find((other) => isSameItem(each, other)),
      ),
    )
  }
  if (!isObject(given)) return given
  const known = isObject(stored) ? stored : {}
  return Object.fromEntries(
    Object.entries(given).map(([name, each]) => {
      const own = Object.hasOwn(known, name) ? known[name] : undefined
      if (name === 'secret' && each === REDACTED && typeof own === 'string') return [name, own]
      return [name, withSecrets(each, own)]
    }),
  )
}

function isSameItem(given: unknown, stored: unknown): boolean {
  if (!isObject(given) || !isObject(stored)) return false
  const name = ['id', 'key', 'url'].find((each) => typeof given[each] === 'string')
  return name !== undefined && given[name] === stored[name]
}
