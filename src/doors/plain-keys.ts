import { isObject, type JsonObject } from '../kernel/json.ts'
import { seal } from '../kernel/secrets.ts'
import type { Store } from '../kernel/state/store.ts'
import { readFixtures } from './fixtures.ts'

/** A key that the running world accepts, in plain text. */
export interface PlainKey {
  readonly token: string
  readonly kind: 'user' | 'service'
  /** What tells it from the others. */
  readonly says: string
}

/** One key of each sort; null where the world has no such key, or none that is known in plain text. */
export interface ReadyKeys {
  readonly user: string | null
  readonly member: string | null
  readonly service: string | null
}

/**
 * The keys that the fixtures show and the world knows. The world keeps digests alone, so that only its fixtures can tell
 * them; a world from an older state file may have others, of which nothing is said.
 */
export async function plainKeys(fixtures: string | JsonObject, store: Store): Promise<PlainKey[]> {
  const tokens = [...store.rows('api_keys').values()].map((row) => (row as { token?: unknown }).token)
  return knownKeys(await writtenKeys(fixtures), tokens)
}

/** The keys that a starting world shows in plain text. Throws `FixturesError` when it cannot be read. */
export async function writtenKeys(fixtures: string | JsonObject): Promise<PlainKey[]> {
  const { collections } = await readFixtures(fixtures)
  return keysIn(collections.api_keys)
}

/** The records of keys that show their token. */
export function keysIn(records: unknown): PlainKey[] {
  if (!Array.isArray(records)) return []
  return records.filter(isObject).flatMap((key): PlainKey[] => {
    const { token, kind, user_id, account_admin, teamspace_id } = key
    if (typeof token !== 'string' || seal(token) === token) return []
    const who =
      kind === 'service' ? 'service key' : `${user_id}${account_admin === true ? ', account admin' : ''}`
    return [
      { token, kind: kind === 'service' ? 'service' : 'user', says: `${who}, teamspace ${teamspace_id}` },
    ]
  })
}

/** Those whose digest a world has. @param tokens the tokens of its keys, as it keeps them */
export function knownKeys(written: readonly PlainKey[], tokens: readonly unknown[]): PlainKey[] {
  const known = new Set(tokens)
  return written.filter(({ token }) => known.has(seal(token)))
}

/** One key of each sort: the first user's, another user's, and the first service key. */
export function readyKeys(keys: readonly PlainKey[]): ReadyKeys {
  const [user, member] = keys.filter(({ kind }) => kind === 'user')
  const service = keys.find(({ kind }) => kind === 'service')
  return { user: user?.token ?? null, member: member?.token ?? null, service: service?.token ?? null }
}
