import { z } from 'zod'
import { type Settings, setting } from '../assumptions.ts'
import { CHALLENGE, refuse } from '../errors.ts'
import type { InputOf, ShapeOf } from '../fields.ts'
import { isSealed, seal } from '../secrets.ts'
import { collection } from '../state/collection.ts'
import type { Store } from '../state/store.ts'

/** The two kinds of key. Specification: Authentication. */
export type PrincipalKind = 'user' | 'service'

/** An API key, and the facts about its holder that responses depend on. No response of the API shows them. */
const keyRecord = () =>
  z.strictObject({
    id: z.string().min(1),
    kind: z.enum(['user', 'service']),
    /** Digest of the token; see `secrets.ts`. */
    token: z
      .string()
      .min(1)
      .refine((token) => !token.includes('@'), {
        error: 'must have no "@": the text after the last "@" in an Authorization header selects a sandbox',
      }),
    /** Null for a service key. */
    user_id: z.string().nullable().default(null),
    organization_id: z.string(),
    /** The teamspace that the key acts in (U070). */
    teamspace_id: z.string(),
    account_admin: z.boolean().default(false),
    /** Permission words such as `ep:skills:write` and `organization:edit`. */
    permissions: z.array(z.string()).default([]),
    /** Names of operations that the key is refused (U071). */
    denied: z.array(z.string()).default([]),
  })

export type ApiKey = ShapeOf<typeof keyRecord>

/** A record of `api_keys` to write, with its token in plain text. */
export type ApiKeyRecord = InputOf<typeof keyRecord>

export const apiKeys = collection<ApiKey>({
  name: 'api_keys',
  label: 'API key',
  secrets: ['token'],
  schema: keyRecord,
})

/** The caller of a request: the record of its key, without the token. */
export const caller = () => keyRecord().omit({ id: true, token: true }).extend({ key_id: z.string() })

export type Caller = ShapeOf<typeof caller>

export const userPrefix = setting({
  key: 'keys.user_prefix',
  item: 'U069',
  description: 'Sets the prefix of user-scoped keys; used only for unknown keys under --auth any.',
  schema: () => z.string().min(1),
  default: 'live_',
})

export const servicePrefix = setting({
  key: 'keys.service_prefix',
  item: 'U069',
  description: 'Sets the prefix of service keys; used only for unknown keys under --auth any.',
  schema: () => z.string().min(1),
  default: 'service_',
})

export const teamspaceHeader = setting<string | null>({
  key: 'auth.teamspace_header',
  item: 'U070',
  description:
    'Sets the name of a request header that selects another teamspace of the same organization; null for none.',
  schema: () => z.string().min(1).nullable(),
  default: null,
})

/** The parts of a request that identify its caller. */
interface Keyed {
  readonly keyId?: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** The longest text that is compared with the keys of a sandbox. */
const MAX_TOKEN = 256

/** How much of one text is searched for keys. */
const MAX_TEXT = 16_384

/** The maximum number of texts that are known to contain no key. */
const MAX_CLEAN = 1_000

const BETWEEN_WORDS = /[\s"'<>()[\]{},;:&=?#/\\|@]+/

/** Turns the Authorization header into a caller, or refuses with `unauthorized`. */
export class Authenticator {
  readonly #store: Store
  readonly #anyKey: boolean
  #byDigest = new Map<string, ApiKey>()
  #byToken = new Map<string, Caller>()
  /** Texts without a key, such as the headers of most requests: a digest of each word takes a microsecond. */
  #clean: { readonly settings?: Settings; readonly texts: Set<string> } = { texts: new Set() }
  #version = -1

  constructor(store: Store, anyKey: boolean) {
    this.#store = store
    this.#anyKey = anyKey
  }

  identify(authorization: string | undefined, settings: Settings): Caller {
    // HTTP schemes are case-insensitive; the token is one run of visible characters.
    const token = /^bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) {
      const detail =
        authorization === undefined
          ? 'The request has no Authorization header.'
          : 'The Authorization header is not of the form "Bearer <token>".'
      return unauthorized(detail)
    }
    this.#refresh()
    const known = this.#byToken.get(token)
    if (known !== undefined) return known
    // The state contains digests. A digest that was read there must not work as a token.
    if (isSealed(token)) return unauthorized('No key of this sandbox has the given token.')
    const key = this.#byDigest.get(seal(token))
    if (key !== undefined) {
      const caller = callerOf(key)
      this.#byToken.set(token, caller)
      return caller
    }
    const standIn = this.#anyKey ? this.#standIn(token, settings) : undefined
    return standIn === undefined
      ? unauthorized('No key of this sandbox has the given token.')
      : callerOf(standIn)
  }

  /** The caller of a request: by its `keyId` if it has one, otherwise by its Authorization header. */
  identifyCall({ keyId, headers }: Keyed, settings: Settings): Caller {
    if (keyId === undefined) return this.identify(headers.authorization, settings)
    const key = this.#store.rows(apiKeys.name).get(keyId) as ApiKey | undefined
    return key === undefined ? unauthorized(`The sandbox no longer has the key "${keyId}".`) : callerOf(key)
  }

  /**
   * The words in texts of a request that are keys of the sandbox, or have the form of a key: a prefix of the settings, then
   * eight or more characters. Clients may send a key in a place where none belongs, and the log must not keep it.
   */
  keysIn(texts: readonly string[], settings: Settings): readonly string[] {
    this.#refresh()
    if (this.#clean.settings !== settings || this.#clean.texts.size > MAX_CLEAN)
      this.#clean = { settings, texts: new Set() }
    const unknown = texts.filter((text) => !this.#clean.texts.has(text))
    return unknown.length === 0 ? [] : [...new Set(unknown.flatMap((text) => this.#keysOf(text, settings)))]
  }

  #keysOf(text: string, settings: Settings): readonly string[] {
    const prefixes = [settings.get(userPrefix), settings.get(servicePrefix)]
    const isKey = (word: string): boolean =>
      prefixes.some((prefix) => word.startsWith(prefix) && word.length >= prefix.length + 8) ||
      (word.length <= MAX_TOKEN && this.#byDigest.has(seal(word)))
    if (isKey(text)) return [text]
    const found = text.slice(0, MAX_TEXT).split(BETWEEN_WORDS).filter(isKey)
    if (found.length === 0 && text.length <= MAX_TOKEN) this.#clean.texts.add(text)
    return found
  }

  /** The caller of a request; undefined when its key is missing or unknown. */
  guessCall(call: Keyed, settings: Settings): Caller | undefined {
    try {
      return this.identifyCall(call, settings)
    } catch {
      return undefined
    }
  }

  // The digest of a token is computed once, and again after any key has changed.
  #refresh(): void {
    const version = this.#store.version(apiKeys.name)
    if (version === this.#version) return
    this.#version = version
    this.#byToken = new Map()
    this.#clean = { texts: new Set() }
    this.#byDigest = new Map()
    for (const row of this.#store.rows(apiKeys.name).values())
      this.#byDigest.set((row as ApiKey).token, row as ApiKey)
  }

  #standIn(token: string, settings: Settings): ApiKey | undefined {
    const kind = token.startsWith(settings.get(servicePrefix)) ? 'service' : 'user'
    if (kind === 'user' && !token.startsWith(settings.get(userPrefix))) return undefined
    for (const key of this.#byDigest.values()) if (key.kind === kind) return key
    return undefined
  }
}

function unauthorized(detail: string): never {
  return refuse('unauthorized', { detail, headers: CHALLENGE })
}

function callerOf({ id, token: _, ...facts }: ApiKey): Caller {
  return { key_id: id, ...facts }
}
