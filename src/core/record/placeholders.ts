import { isObject, withTexts } from '../json.ts'
import { isDistinct, mapSecretsInText, secretsIn } from '../redaction.ts'
import { isSealed, seal } from '../secrets.ts'

/** A secret with fewer characters is only replaced where it is a whole word. */
const SHORT = 8

/** Replaces secrets by placeholders of the same length, and their digests by the digests of the placeholders. */
export class Placeholders {
  readonly #placeholders = new Map<string, string>()
  /** The secrets that are replaced wherever they are. */
  readonly #everywhere = new Map<string, string>()
  readonly #isOff: boolean
  #pattern: RegExp | undefined

  /** @param isOff whether nothing is replaced: a replay has placeholders only */
  constructor(isOff = false) {
    this.#isOff = isOff
  }

  /** Adds a secret, which is then replaced wherever it is. @param prefixes starts of secrets that placeholders keep */
  add(secret: string, prefixes: readonly string[] = []): void {
    if (secret === '' || isSealed(secret) || this.#everywhere.has(secret)) return
    const own = this.of(secret, prefixes)
    this.#everywhere.set(secret, own).set(seal(secret), seal(own))
    this.#pattern = undefined
  }

  /** The placeholder of a secret. It is as {@link isDistinct} as the secret, so that a replay masks the same texts. */
  readonly of = (secret: string, prefixes: readonly string[] = []): string => {
    const known = this.#placeholders.get(secret)
    if (known !== undefined || this.#isOff || isSealed(secret)) return known ?? secret
    const kept = prefixes.find((each) => secret.startsWith(each)) ?? ''
    const number = this.#placeholders.size / 2 + 1
    const names = isDistinct(secret) ? [`${kept}secret-${number}`, `s${number}-`] : [`${number}`]
    const name = names.find(({ length }) => length <= secret.length) ?? `${number}`
    const own = name.slice(0, secret.length).padEnd(secret.length, '-')
    // A placeholder is its own: the text around it may be searched again.
    this.#placeholders.set(secret, own).set(own, own)
    return own
  }

  /** Adds the strings of all fields with one of these names, anywhere in a value. */
  addFields(value: unknown, names: readonly string[], isMeant = (_secret: string) => true): void {
    if (typeof value !== 'object' || value === null) return
    for (const [name, each] of Object.entries(value)) {
      if (isObject(value) && typeof each === 'string' && names.includes(name) && isMeant(each)) this.add(each)
      else this.addFields(each, names, isMeant)
    }
  }

  /** Adds the credentials in a JSON value. A rule of faults names a key by its id, which is none. */
  addAll(value: unknown, prefixes: readonly string[]): void {
    if (value === undefined) return
    const json = JSON.stringify(value, (name, each) =>
      name === 'match' && isObject(each) ? { ...each, api_key: undefined } : each,
    )
    for (const secret of secretsIn(JSON.parse(json))) if (isDistinct(secret)) this.add(secret, prefixes)
  }

  /** A credential in its own place, where a short one or a common word is replaced, too; the others wait for {@link in}. */
  readonly inPlace = (secret: string): string => (isDistinct(secret) ? secret : this.of(secret))

  /** A text that a client has sent, with placeholders. */
  inSent(text: string): string {
    return this.in(mapSecretsInText(text, this.inPlace))
  }

  /** A text with placeholders. */
  in(text: string): string {
    if (this.#everywhere.size === 0) return text
    this.#pattern ??= new RegExp(
      [...this.#everywhere.keys()]
        .sort((a, b) => b.length - a.length)
        .map((each) => {
          const literal = each.replace(/[^\w]/g, '\\$&')
          return each.length < SHORT ? `(?<![\\w-])${literal}(?![\\w-])` : literal
        })
        .join('|'),
      'g',
    )
    return text.replace(this.#pattern, (each) => this.#everywhere.get(each) ?? each)
  }

  /** A copy of a JSON value with placeholders in all its texts. */
  inside<T>(value: T): T
  inside(value: unknown): unknown {
    return withTexts(value, (text) => this.in(text))
  }
}
