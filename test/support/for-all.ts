import fc from 'fast-check'

type Arbitraries<Values> = { [N in keyof Values]: fc.Arbitrary<Values[N]> }

/** A property with the usual number of runs: `holds` must neither throw nor return false. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  ...given: [...Arbitraries<Values>, holds: (...values: Values) => void]
): void {
  fc.assert(fc.property(...given))
}
