import { isObject } from '../json.ts'
import { isSealed, seal } from '../secrets.ts'

/** A secret with fewer characters is only replaced where it is a whole word. */
const SHORT = 8

/** Replaces secrets by placeholders of the same length, and their digests by the digests of the placeholders. */
export class Placeholders {
  readonly #placeholders = new Map<string, string>()
  #pattern: RegExp | undefined

  /** @param prefixes starts of secrets that placeholders keep */
  add(secret: string, prefixes: readonly string[] = []): void {
    if (secret === '' || isSealed(secret) || this.#placeholders.has(secret)) return
    const kept = prefixes.find((each) => secret.startsWith(each)) ?? ''
    const number = (this.#placeholders.size / 2 + 1).toString(36)
    const name = `${kept}secret-${number}`
    const placeholder = name.length > secret.length ? `${number}${'-'.repeat(secret.length)}` : name
    const own = placeholder.slice(0, secret.length).padEnd(secret.length, '-')
    this.#placeholders.set(secret, own)
    this.#placeholders.set(seal(secret), seal(own))
    this.#pattern = undefined
  }

  /** Adds the strings of all fields with one of these names, anywhere in a value. */
  addFields(
    value: unknown,
    names: readonly string[],
    isMeant: (secret: string) => boolean = () => true,
  ): void {
    if (typeof value !== 'object' || value === null) return
    for (const [name, each] of Object.entries(value)) {
      if (isObject(value) && typeof each === 'string' && names.includes(name) && isMeant(each)) this.add(each)
      else this.addFields(each, names, isMeant)
    }
  }

  /** A text with placeholders. */
  in(text: string): string {
    if (this.#placeholders.size === 0) return text
    this.#pattern ??= new RegExp(
      [...this.#placeholders.keys()]
        .sort((a, b) => b.length - a.length)
        .map((each) => {
          const literal = each.replace(/[^\w]/g, '\\$&')
          return each.length < SHORT ? `(?<![\\w-])${literal}(?![\\w-])` : literal
        })
        .join('|'),
      'g',
    )
    return text.replace(this.#pattern, (each) => this.#placeholders.get(each) ?? each)
  }

  /** A copy of a JSON value with placeholders in all its strings. */
  inside<T>(value: T): T {
    if (value === undefined) return value
    return JSON.parse(JSON.stringify(value), (_, each) => (typeof each === 'string' ? this.in(each) : each))
  }
}
