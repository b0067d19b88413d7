import fc from 'fast-check'
import { afterAll } from 'vitest'

interface Stryker {
  activeMutant?: string | undefined
  mutantCoverage?: { readonly static: Record<string, number>; readonly perTest: Record<string, object> }
}

const stryker = (globalThis as { __stryker__?: Stryker }).__stryker__

// The count goes on from file to file in one thread, and each file reports all of it: without this, sums of sums.
const { perTest = {} } = stryker?.mutantCoverage ?? {}
for (const test of Object.keys(perTest)) delete perTest[test]

// A property may be as long as it likes in the test suite. Here it runs once per mutant.
fc.configureGlobal({ numRuns: 30, seed: 1, interruptAfterTimeLimit: 200, markInterruptAsFailure: false })

// The next file is loaded in the same thread, and what it makes while it is loaded has to be what the code says.
afterAll(() => {
  if (stryker !== undefined) stryker.activeMutant = undefined
})
