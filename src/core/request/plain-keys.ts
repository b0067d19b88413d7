import { isObject } from '../json.ts'
import { seal } from '../secrets.ts'

/** A key that the running sandbox accepts, in plain text. */
export interface PlainKey {
  readonly token: string
  readonly kind: 'user' | 'service'
  /** Distinguishes it from other keys: the user, or `service key`, and the teamspace. */
  readonly description: string
}

/** API keys of a sandbox in plain text. `null` if the sandbox has no such key, or its plain text is not known. */
export interface SandboxKeys {
  /** The first user key of the fixtures. */
  readonly user: string | null
  /** The second user key of the fixtures. */
  readonly member: string | null
  /** The first service key of the fixtures. */
  readonly service: string | null
}

/** The keys among these records whose token is in plain text. Sealed tokens are left out. */
export function keysIn(records: unknown): PlainKey[] {
  if (!Array.isArray(records)) return []
  return records.filter(isObject).flatMap((key): PlainKey[] => {
    const { token, kind, user_id, account_admin, teamspace_id } = key
    if (typeof token !== 'string' || seal(token) === token) return []
    const isService = kind === 'service'
    const who = isService ? 'service key' : `${user_id}${account_admin === true ? ', account admin' : ''}`
    const description = `${who}, teamspace ${teamspace_id}`
    return [{ token, kind: isService ? 'service' : 'user', description }]
  })
}

/** The keys that a sandbox has. @param tokens the sealed tokens of its keys */
export function knownKeys(written: readonly PlainKey[], tokens: readonly unknown[]): PlainKey[] {
  const known = new Set(tokens)
  return written.filter(({ token }) => known.has(seal(token)))
}

/** The first two user keys and the first service key. */
export function readyKeys(keys: readonly PlainKey[]): SandboxKeys {
  const [user, member] = keys.filter(({ kind }) => kind === 'user')
  const service = keys.find(({ kind }) => kind === 'service')
  return { user: user?.token ?? null, member: member?.token ?? null, service: service?.token ?? null }
}
