import { isObject } from '../../kernel/json.ts'
import { seal } from '../../kernel/secrets.ts'
import type { Store } from '../../kernel/state/store.ts'
import { readFixtures } from '../fixtures.ts'

/** A key that the running world accepts, in plain text. */
export interface PlainKey {
  readonly token: string
  readonly kind: 'user' | 'service'
  /** What tells it from the others. */
  readonly says: string
}

/** The keys that the ready line names; null where the world has no such key. */
export interface ReadyKeys {
  readonly user: string | null
  readonly member: string | null
  readonly service: string | null
}

/**
 * The keys that the fixtures show and the world knows. The world keeps digests alone, so that only its fixtures can tell
 * them; a world from an older state file may have others, of which nothing is said.
 */
export async function plainKeys(fixtures: string, store: Store): Promise<PlainKey[]> {
  const { collections } = await readFixtures(fixtures)
  const written = Array.isArray(collections.api_keys) ? collections.api_keys : []
  const known = new Set([...store.rows('api_keys').values()].map((row) => (row as { token?: unknown }).token))
  return written.filter(isObject).flatMap((key): PlainKey[] => {
    const { token, kind, user_id, account_admin, teamspace_id } = key
    if (typeof token !== 'string' || seal(token) === token || !known.has(seal(token))) return []
    const who =
      kind === 'service' ? 'service key' : `${user_id}${account_admin === true ? ', account admin' : ''}`
    return [
      { token, kind: kind === 'service' ? 'service' : 'user', says: `${who}, teamspace ${teamspace_id}` },
    ]
  })
}

/** One key of each sort: the first user's, another user's, and the first service key. */
export function readyKeys(keys: readonly PlainKey[]): ReadyKeys {
  const [user, member] = keys.filter(({ kind }) => kind === 'user')
  const service = keys.find(({ kind }) => kind === 'service')
  return { user: user?.token ?? null, member: member?.token ?? null, service: service?.token ?? null }
}
