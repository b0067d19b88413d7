import { createHmac } from 'node:crypto'
import { isObject, type JsonObject, withTexts } from './json.ts'
import { once } from './once.ts'
import { isSealed, REDACTED } from './secrets.ts'
import { parseInstant } from './time/instant.ts'

// What a name must contain, for a quick answer to most names.
const PART = /token|secret|pass|pwd|key|authorization|credential|cookie|verifier/i

/** The end of a name in snake case whose value is a credential. */
const SECRET_NAME =
  /(?:^|_)(?:authorization|cookie|pass(?:word|wd|phrase|code)|pwd|credentials?|code_verifier|(?:access|api|auth|bearer|claim|client|control|id|private|refresh|secret|session|signing)?_?(?:secret|token)|(?:access|api|auth|bearer|claim|client|control|private|secret|session|signing)_?key)$/

/** Whether a field, a parameter or a header with this name has a credential as its value. */
export function isSecretName(name: string): boolean {
  if (!PART.test(name)) return false
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll(/[^a-zA-Z0-9]+/g, '_')
  return SECRET_NAME.test(words.toLowerCase().replace(/_$/, ''))
}

/** These names are too common elsewhere: they are credentials only beside a parameter that OAuth alone has. */
const OAUTH_NAMES = ['code', 'state', 'nonce']
const OAUTH_MARKS = ['grant_type', 'redirect_uri', 'client_id', 'code_challenge', 'code_verifier']
const OAUTH_MARK = new RegExp(`(?:${OAUTH_MARKS.join('|')})\\\\*["']?\\s*[:=]`)

/** A copy of a JSON value with {@link REDACTED} in the place of each credential; the value itself if it has none. */
export function withoutSecrets<T>(value: T): T
export function withoutSecrets(value: unknown): unknown {
  return mapSecrets(value, () => REDACTED)
}

/** A copy of a value with a mask in the place of its own fields with these names, whatever their values are. */
export function withoutFields<T>(value: T, names: readonly string[] | undefined): T
export function withoutFields(value: unknown, names: readonly string[] | undefined): unknown {
  if (names === undefined) return value
  // If an object with secrets is expected, any other value may itself be a secret.
  if (!isObject(value)) return REDACTED
  const present = names.filter((name) => Object.hasOwn(value, name))
  return present.length === 0
    ? value
    : { ...value, ...Object.fromEntries(present.map((name) => [name, REDACTED])) }
}

/** The credentials in a JSON value. */
export function secretsIn(value: unknown): string[] {
  const found: string[] = []
  mapSecrets(value, (secret) => {
    found.push(secret)
    return secret
  })
  return found
}

/** A copy of a JSON value with a replacement of each credential; the value itself if none is another one. */
function mapSecrets(value: unknown, replace: (secret: string) => string, isSecret = false): unknown {
  if (typeof value === 'string') {
    if (!isSecret) return mapSecretsInText(value, replace)
    // A digest says nothing about the secret, and tells whether two are the same.
    return value === '' || isSealed(value) ? value : replace(value)
  }
  if (typeof value === 'number' && isSecret) return replace(String(value))
  if (Array.isArray(value)) {
    let items: unknown[] | undefined
    for (const [n, each] of value.entries()) {
      const mapped = mapSecrets(each, replace, isSecret)
      if (mapped === each) continue
      items ??= [...value]
      items[n] = mapped
    }
    return items ?? value
  }
  if (typeof value !== 'object' || value === null) return value
  const object = value as JsonObject
  let fields: Map<string, unknown> | undefined
  for (const name of Object.keys(object)) {
    const isOwn = isSecretName(name) || (OAUTH_NAMES.includes(name) && isOauth(object))
    // An object with the name of a credential describes one, as a JSON Schema does.
    const mapped = mapSecrets(object[name], replace, isOwn)
    if (mapped === object[name]) continue
    fields ??= new Map(Object.entries(object))
    fields.set(name, mapped)
  }
  return fields === undefined ? value : Object.fromEntries(fields)
}

function isOauth(value: object): boolean {
  return OAUTH_MARKS.some((name) => Object.hasOwn(value, name))
}

/** A text that may have a credential: most have none, and are not searched twice. */
const MAY_HAVE = new RegExp(
  `(?:token|secret|pass\\w{4,6}|pwd|key|authorization|credentials?|cookie|verifier|${OAUTH_MARKS.join('|')})\\\\*["']?\\s*[:=]|:\\/\\/[^\\s/@]{0,256}:[^\\s/@]{1,256}@|\\b(?:bearer|basic)\\s`,
  'i',
)

/** `name: "value"` and `name = 'value'`, with or without quotes around the name, also inside of a JSON string. */
const QUOTED =
  /(?<![\w$.-])([\w$.-]{1,64})(\\*["']?\s*[:=]\s*)(\\*)(["'`])((?:(?!\3\4)(?:[^\\\n]|\\[^\n]))+)(?=\3\4)/g

/** `name=value` of a query or a form. */
const PARAMETER = /(?<![\w$.%-])([\w$.%-]{1,64})=([^\s&;,"'`<>\\]+)/g

/** The password in a URL, and the credential after the scheme of `Authorization`. */
const OTHERS = /(:\/\/[^\s/:@]{0,256}:)([^\s/@"']{1,256})(?=@)|\b((?:bearer|basic)\s+)([\w.~+/=-]{8,})/gi

/** A text with {@link REDACTED} in the place of each credential. */
export function withoutSecretsInText(text: string): string {
  return mapSecretsInText(text, () => REDACTED)
}

/** A text with a replacement of each credential: of a JSON document, a form, a URL, a script. */
export function mapSecretsInText(text: string, replace: (secret: string) => string): string {
  if (!MAY_HAVE.test(text)) return text
  const isOauth = OAUTH_MARK.test(text)
  const isOwn = (name: string) => isSecretName(name) || (isOauth && OAUTH_NAMES.includes(name))
  return text
    .replace(
      QUOTED,
      (_, name, between, slashes, quote, value) =>
        `${name}${between}${slashes}${quote}${isOwn(name) ? replace(value) : mapSecretsInText(value, replace)}`,
    )
    .replace(PARAMETER, (all, name, value) => (isOwn(name) ? `${name}=${replace(value)}` : all))
    .replace(OTHERS, (_, user, password, scheme, credential) =>
      user !== undefined
        ? user + replace(password)
        : scheme + (isDistinct(credential) ? replace(credential) : credential),
    )
}

/** Headers that are never kept: they contain credentials, or (`host`) only the port of this run. */
export const UNLOGGED_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'host',
])

/** The headers of a request without those that are never kept; other credentials are masked. */
export function withoutCredentials(headers: Readonly<Record<string, string | undefined>>) {
  const kept: Record<string, string | undefined> = {}
  for (const name in headers) if (!UNLOGGED_HEADERS.has(name)) kept[name] = headers[name]
  return withoutSecrets(kept)
}

const SCHEME = /^(?:basic|bearer|digest|negotiate|token|apikey)$/i

/** The value of a header with credentials, with a replacement of each: without schemes, names of cookies and `@sandbox`. */
export function mapCredentials(value: string, replace: (secret: string) => string): string {
  return value.replace(
    /(?<=^|[\s,;=])([^\s,;=@]+)(?=(?:@[^\s,;=@]*)?=*(?:[\s,;]|$))/g,
    (word, _, at: number) => (at === 0 && SCHEME.test(word) ? word : replace(word)),
  )
}

/**
 * Whether a credential is replaced wherever it occurs. A short one, a number or a common word is not: it would change the
 * meaning of other texts, such as `string` in a JSON Schema.
 */
export function isDistinct(secret: string): boolean {
  return secret.length >= 5 && /[a-z]/i.test(secret) && (/[^a-z_]/.test(secret) || secret.length > 12)
}

/** A copy of a JSON value with a mask in place of each of the words, wherever its strings contain them. */
export function withoutWords<T>(value: T, words: readonly string[]): T
export function withoutWords(value: unknown, words: readonly string[]): unknown {
  if (words.length === 0) return value
  return withTexts(value, (text) => words.reduce((left, word) => left.replaceAll(word, REDACTED), text))
}

/** Which texts of a record stay as they are. */
interface KeptTexts {
  /** Fields with a word that the service defines, besides {@link WORD_FIELDS}. */
  readonly words: readonly string[]
  /** Fields with names of a client inside, of which no name says what the text is. */
  readonly free: readonly string[]
  /** The ids of records, which stay wherever they are the whole text. */
  readonly ids: { has(text: string): boolean }
  /** Whether all texts stay, except signed URLs and texts in the form of a token. */
  readonly all?: boolean
}

const WORD_FIELDS = ['object', 'type', 'status', 'role', 'scope']
const ID_FIELD = /(?:^|_)ids?$|[a-z]I[Dd]s?$/
const PLAIN_ID = /^[\w.:~-]{1,128}$/
const PLAIN_NAME = /^[\p{L}_$][\w$.-]{0,63}$/u
// These patterns match only from the start of a run of their characters: tried at each one, they take the square of its length.
const EMAIL = /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu
const URL_TEXT = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>\\]+/gi
// Made at the first use: that takes most of a millisecond.
const textParts = once(() => new RegExp(`${URL_TEXT.source}|${EMAIL.source}|[\\p{L}\\p{M}\\p{N}]+`, 'giu'))

/** A URL or a path with a signature, a token or a password. */
const SIGNED =
  /(?<![^\s"'<>\\])[^\s"'<>\\?]*\?[^\s"'<>\\]*?(?:sig|signature|token|expires|credential|policy|key|hash|hmac|x-[a-z]+-[\w-]+)=[^\s"'<>\\]*|\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/@"'<>]+@[^\s"'<>\\]*/gi

/** A text in the form of a token: a JWT, one with a prefix, or many letters and digits. */
const TOKEN =
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|\b(?:[a-z]{2,10}_){1,2}(?=\w*\d)\w{16,}|\bAKIA[A-Z0-9]{16}\b|(?<![\w/+-])(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?![\da-f]{8}-)[\w+/-]{32,}={0,2}/gi

/**
 * Replaces the texts of a record by others of the same form: letters by letters, digits by digits, of the same length; an e-mail
 * address stays one, and a URL has neither its host nor its query. The same word and secret give the same word. Ids, words of the
 * service, instants and numbers stay.
 */
export class Pseudonyms {
  readonly #secret: string
  readonly #kept: KeptTexts
  readonly #words: ReadonlySet<string>
  readonly #known = new Map<string, string>()

  /** @param secret without which nothing leads back to the texts */
  constructor(secret: string, kept: KeptTexts) {
    this.#secret = secret
    this.#kept = kept
    this.#words = new Set([...WORD_FIELDS, ...kept.words])
  }

  /** A copy of a JSON value with other texts. @param name of the field that has it @param isFree whether names say nothing */
  inside<T>(value: T, name?: string, isFree?: boolean): T
  inside(value: unknown, name = '', isFree = false): unknown {
    if (typeof value === 'string') return this.#stays(value, name, isFree) ? value : this.#text(value)
    if (Array.isArray(value)) return value.map((each) => this.inside(each, name, isFree))
    if (!isObject(value)) return value
    const inner = isFree || this.#kept.free.includes(name)
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        this.#kept.all || PLAIN_NAME.test(key) ? key : this.#text(key),
        this.inside(each, key, inner),
      ]),
    )
  }

  #stays(text: string, name: string, isFree: boolean): boolean {
    if (text === REDACTED || parseInstant(text) !== undefined) return true
    if (!PLAIN_ID.test(text)) return false
    return this.#kept.ids.has(text) || (!isFree && (ID_FIELD.test(name) || this.#words.has(name)))
  }

  #text(text: string): string {
    if (this.#kept.all) return text.replaceAll(SIGNED, (url) => this.#url(url)).replaceAll(TOKEN, REDACTED)
    return text.replaceAll(textParts(), (part) => {
      if (part.includes('://')) return this.#url(part)
      if (!part.includes('@')) return this.#word(part)
      const [local = '', host = ''] = part.split('@')
      return `${this.#all(local)}@${this.#all(host.replace(/\.[^.]*$/, ''))}.example`
    })
  }

  #url(url: string): string {
    const [, scheme, rest = ''] = /^([^?]*:\/\/)?([^?#]*)/.exec(url) ?? []
    if (scheme === undefined) return this.#kept.all ? rest : this.#all(rest)
    const [, host = '', path = ''] = /^([^/]*)(.*)$/.exec(rest) ?? []
    return `${scheme}${this.#word(host.replaceAll(/[^\p{L}\p{N}]/gu, '')).toLowerCase()}.example${this.#kept.all ? path : this.#all(path)}`
  }

  #all(text: string): string {
    return text.replaceAll(/[\p{L}\p{M}\p{N}]+/gu, (word) => this.#word(word))
  }

  #word(word: string): string {
    let other = this.#known.get(word)
    for (let n = 0; other === undefined || (other === word && n < 100); n++) {
      const bytes = createHmac('sha256', this.#secret).update(`${n} ${word}`).digest()
      const letters = [...word.normalize('NFC')].map((letter, at) => {
        const drawn = (bytes[at % bytes.length] ?? 0) + Math.floor(at / bytes.length) * 7
        if (/\p{N}/u.test(letter)) return String(drawn % 10)
        return String.fromCharCode((/\p{Lu}/u.test(letter) ? 65 : 97) + (drawn % 26))
      })
      other = letters.join('')
    }
    this.#known.set(word, other)
    return other
  }
}
