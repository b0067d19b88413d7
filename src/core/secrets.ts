import { createHash } from 'node:crypto'
import { isObject, ownValue } from './json.ts'

/** The mask that is shown instead of a secret. */
export const REDACTED = '(redacted)'

const MARK = 'sha256:'
const SEALED = /^sha256:[0-9a-f]{64}$/

/**
 * Converts a secret (an API key, a claim token, an OAuth state) to the digest that the sandbox stores, so that the state file,
 * exports and logs do not contain the secret. A sealed value is returned unchanged.
 */
export function seal(secret: string): string {
  if (isSealed(secret)) return secret
  return MARK + createHash('sha256').update(secret).digest('hex')
}

/** Whether a text is a result of {@link seal}. Such a text must be refused when a caller presents it as a secret. */
export function isSealed(secret: string): boolean {
  return SEALED.test(secret)
}

/** Replaces the named fields of a record by their digests. Fields that are absent or not strings do not change. */
export function sealMembers<T extends object>(record: T, members: readonly string[]): T {
  let sealed = record
  for (const member of members) {
    const value = (record as Record<string, unknown>)[member]
    if (typeof value === 'string') sealed = { ...sealed, [member]: seal(value) }
  }
  return sealed
}

/** A copy of a value without its secrets: the fields named `secret`, which sign webhooks, have a mask instead. */
export function withoutSecret<T>(value: T): T
export function withoutSecret(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutSecret(each))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, each]) => {
    const isSecret = name === 'secret' && typeof each === 'string'
    return [name, isSecret ? REDACTED : withoutSecret(each)]
  })
  return Object.fromEntries(members)
}

/** Whether a value has a mask instead of a secret. */
export function isMasked(value: unknown): boolean {
  // The quotes of a text inside the value would be escaped.
  return JSON.stringify(value)?.includes(`"secret":"${REDACTED}"`) ?? false
}

/**
 * The inverse of {@link withoutSecret}: replaces each mask by the secret that is stored in the same place. Items of lists are
 * matched by id, key or url. A mask without a stored secret stays, and the schema of the secret refuses it.
 */
export function withSecrets<T>(given: T, stored: unknown): T
export function withSecrets(given: unknown, stored: unknown): unknown {
  if (Array.isArray(given)) {
    const known = Array.isArray(stored) ? stored : []
    return given.map((each) => {
      const own = known.find((other) => isSameItem(each, other))
      return withSecrets(each, own)
    })
  }
  if (!isObject(given)) return given
  const known = isObject(stored) ? stored : {}
  return Object.fromEntries(
    Object.entries(given).map(([name, each]) => {
      const own = ownValue(known, name)
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
