import fc from 'fast-check'
import { afterAll } from 'vitest'

interface Stryker {
  activeMutant?: string | undefined
  mutantCoverage?: { readonly static: Record<string, number>; readonly perTest: Record<string, object> }
}

const stryker = (globalThis as { __stryker__?: Stryker }).__stryker__

// The counts continue from file to file in one thread, and each file reports all of them: without a reset they add up twice.
const { perTest = {} } = stryker?.mutantCoverage ?? {}
for (const test of Object.keys(perTest)) delete perTest[test]

// In the test suite a property may run longer. Here it runs once per mutant.
fc.configureGlobal({ numRuns: 30, seed: 1, interruptAfterTimeLimit: 200, markInterruptAsFailure: false })

// The next file is loaded in the same thread, and its modules must be loaded without an active mutant.
afterAll(() => {
  if (stryker !== undefined) stryker.activeMutant = undefined
})
