import { tmpdir } from 'node:os'
import { join } from 'node:path'

const out = join(tmpdir(), 'agent-workspace-emulator-mutation')

/**
 * Mutation tests of core, service and server with the fast tests. `npm run mutate`; for one folder and its own tests
 * `npm run mutate -- --mutate 'src/core/time/*.ts' --testFiles 'src/core/time/*.test.ts'`.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  mutate: [
    'src/{core,service,server}/**/*.ts',
    '!src/**/*.test.ts',
    // Generation of outputs is tested by properties over random schemas, which need seconds each.
    '!src/json-schema/**',
  ],
  // The compiler checks strings that are names, since nearly all have literal types; the others are sentences.
  mutator: { excludedMutations: ['StringLiteral'] },
  // Code that runs while a module is loaded, such as schemas, would need all modules to be loaded again for each mutant.
  ignoreStatic: true,
  coverageAnalysis: 'perTest',
  plugins: ['./test/mutation/runner.mjs'],
  testRunner: 'bounded',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  concurrency: 1,
  // The score of a sample, 75, minus two points: the tests of a mutant depend slightly on measured durations.
  thresholds: { high: 90, low: 80, break: 73 },
  // A new process after this many mutants removes any state that they have left in the modules.
  maxTestRunnerReuse: 500,
  timeoutMS: 2_000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 20,
  // The compiler here has no JavaScript API, which Stryker needs; a missing file turns the check off.
  disableTypeChecks: false,
  tsconfigFile: 'none.json',
  // The copy of the project is outside of it, so that watchers and checks do not see it.
  tempDirName: join(out, 'copy'),
  ignorePatterns: ['/coverage', '/.workspace-emulator'],
  reporters: ['clear-text', 'progress-append-only', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: join(out, 'report.json') },
}
