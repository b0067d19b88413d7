import fc from 'fast-check'

const FIRST_SURROGATE = 0xd800
const SURROGATES = 0x800

const character = fc
  .nat(0x10_ffff - SURROGATES)
  .map((n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES))

/** A string of any characters. For its own unit `binary`, fast-check first lists all million of them, which takes two seconds. */
export function anyText(bounds: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...bounds, unit: character })
}
