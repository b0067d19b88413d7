import { isObject, type JsonObject } from './json.ts'
import { isSealed, REDACTED } from './secrets.ts'

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
export function mapSecrets(value: unknown, replace: (secret: string) => string, isSecret = false): unknown {
  if (typeof value === 'string') {
    if (!isSecret) return mapSecretsInText(value, replace)
    // A digest says nothing about the secret, and tells whether two are the same.
    return value === '' || isSealed(value) ? value : replace(value)
  }
  if (typeof value === 'number' && isSecret) return replace(String(value))
  if (Array.isArray(value)) {
    const items = value.map((each) => mapSecrets(each, replace, isSecret))
    return items.some((each, n) => each !== value[n]) ? items : value
  }
  if (typeof value !== 'object' || value === null) return value
  const isOauth = OAUTH_MARKS.some((name) => Object.hasOwn(value, name))
  const fields = Object.entries(value).map(([name, each]): [string, unknown] => {
    const isOwn = isSecretName(name) || (isOauth && OAUTH_NAMES.includes(name))
    // An object with the name of a credential describes one, as a JSON Schema does.
    return [name, mapSecrets(each, replace, isOwn)]
  })
  return fields.some(([name, each]) => each !== (value as JsonObject)[name])
    ? Object.fromEntries(fields)
    : value
}

/** A text that may have a credential: most have none, and are not searched twice. */
const MAY_HAVE =
  /(?:token|secret|pass\w{4,6}|pwd|key|authorization|credentials?|cookie|verifier)\\*["']?\s*[:=]|:\/\/[^\s/@]{0,256}:[^\s/@]{1,256}@|\b(?:bearer|basic)\s/i

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
  const isOauth = OAUTH_MARK.test(text)
  if (!isOauth && !MAY_HAVE.test(text)) return text
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
  if (typeof value === 'string') return words.reduce((text, word) => text.replaceAll(word, REDACTED), value)
  if (Array.isArray(value)) return value.map((each) => withoutWords(each, words))
  if (!isObject(value)) return value
  const members = Object.entries(value)
  return Object.fromEntries(
    members.map(([name, each]) => [withoutWords(name, words), withoutWords(each, words)]),
  )
}
