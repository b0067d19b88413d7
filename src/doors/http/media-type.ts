/** What a `Content-Type` header says about a body that should be JSON. */
export type JsonContentType = 'json' | 'missing' | 'other' | 'bad_charset'

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+"
const MEDIA_TYPE = new RegExp(`^(${TOKEN})/(${TOKEN})`)
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(?:(${TOKEN})=(${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?`, 'y')

/**
 * `json` for `application/json` and `application/*+json` in any case, with any parameters; `bad_charset` when a
 * `charset` other than utf-8 is among them (RFC 8259 knows no other); `other` also for a malformed header.
 */
export function isJsonContentType(header: string | undefined): JsonContentType {
  const text = header?.trim().toLowerCase()
  if (text === undefined || text === '') return 'missing'
  const [whole, type, subtype] = MEDIA_TYPE.exec(text) ?? []
  if (whole === undefined || type !== 'application') return 'other'
  if (subtype !== 'json' && !subtype?.endsWith('+json')) return 'other'
  return charsetsOf(text, whole.length)
}

function charsetsOf(text: string, from: number): JsonContentType {
  let verdict: JsonContentType = 'json'
  let at = from
  while (at < text.length) {
    PARAMETER.lastIndex = at
    const [whole, name, value] = PARAMETER.exec(text) ?? []
    if (whole === undefined) return 'other'
    if (name === 'charset' && value?.replaceAll('"', '') !== 'utf-8') verdict = 'bad_charset'
    at += whole.length
  }
  return verdict
}
