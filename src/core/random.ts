/** Named in this way, because the published declarations are CommonJS and faker is only an ES module. */
export type Faker = import('@faker-js/faker', { with: { 'resolution-mode': 'import' }}).Faker

/** A part of the name of a random draw. */
export type Label = string | number

const MIX_A = 0x9e3779b1
const MIX_B = 0x85ebca6b

/**
 * A 32-bit hash of a seed and any number of labels. The same arguments give the same number on every machine, so a decision
 * with its own labels does not depend on earlier decisions.
 */
export function hash(seed: number, ...labels: readonly Label[]): number {
  let state = mix(seed ^ MIX_A)
  for (const label of labels) {
    if (typeof label === 'number')
      state = mix(state ^ Math.imul(label | 0, MIX_B) ^ Math.imul(Math.floor(label / 2 ** 32), MIX_A))
    else state = hashText(state, label)
    state = mix(state + 0x6d2b79f5)
  }
  return state >>> 0
}

/** A number in [0, 1) for a seed and labels. */
export function chanceOf(seed: number, ...labels: readonly Label[]): number {
  return hash(seed, ...labels) / 2 ** 32
}

/** A stream of draws (mulberry32: small, fast, good enough for test data; never used for secrets). */
export class Chance {
  #state: number

  constructor(seed: number, ...labels: readonly Label[]) {
    this.#state = hash(seed, ...labels)
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let value = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  /** One of the choices. */
  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.int(0, choices.length - 1)] ?? choices[0]
  }
}

/** The maximum of every counter: ids have twelve hexadecimal digits for their number. */
export const LAST_NUMBER = 2 ** 48 - 1

/** The n-th id of a sandbox: 24 hexadecimal characters, sorted by creation. Specification: Conventions, object-id style. */
export function objectId(seed: number, n: number): string {
  // The first half is the same for all ids of a sandbox.
  if (seed !== latest.seed)
    latest = { seed, half: hex(hash(seed, 'id', 0), 8) + hex(hash(seed, 'id', 1) & 0xffff, 4) }
  return latest.half + hex(n, 12)
}

let latest = { seed: Number.NaN, half: '' }

/** The n-th UUID (version 4 in form) of a sandbox. */
export function uuid(seed: number, n: number): string {
  const parts = [0, 1, 2, 3].map((part) => hex(hash(seed, 'uuid', n, part), 8)).join('')
  const variant = '89ab'[hash(seed, 'uuid', n, 4) & 3]
  return `${parts.slice(0, 8)}-${parts.slice(8, 12)}-4${parts.slice(13, 16)}-${variant}${parts.slice(17, 20)}-${parts.slice(20, 32)}`
}

/** A faker with a seed, for generated records. Its package is loaded at the first use: that takes longer than a start without. */
export async function loadFaker(seed: number): Promise<Faker> {
  const { faker: shared } = await import('@faker-js/faker/locale/en')
  const own = new (shared.constructor as new (options: { readonly locale: object }) => Faker)({
    locale: shared.rawDefinitions,
  })
  own.seed(seed)
  return own
}

function hashText(start: number, text: string): number {
  let state = start
  for (let index = 0; index < text.length; index++)
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193)
  return mix(state ^ text.length)
}

function mix(value: number): number {
  let state = value | 0
  state = Math.imul(state ^ (state >>> 16), MIX_B)
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35)
  return state ^ (state >>> 16)
}

function hex(value: number, digits: number): string {
  return (value >>> 0 === value ? value : Math.floor(value)).toString(16).padStart(digits, '0').slice(-digits)
}
