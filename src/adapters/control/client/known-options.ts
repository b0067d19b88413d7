import { didYouMean } from '../../../core/assumptions.ts'

/**
 * Refuses options that nothing reads. TypeScript does so by itself; in plain JavaScript a misspelt one would be a default that
 * nobody has chosen.
 * @throws TypeError
 */
export function refuseUnknownOptions(asked: string, options: object, known: readonly string[]): void {
  const odd = Object.keys(options).find((name) => !known.includes(name))
  if (odd === undefined) return
  const wayOut = didYouMean(odd, known) || ` There are ${known.join(', ')}.`
  throw new TypeError(`${asked} knows no option "${odd}".${wayOut}`)
}
