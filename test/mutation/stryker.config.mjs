import { tmpdir } from 'node:os'
import { join } from 'node:path'

const out = join(tmpdir(), 'agent-workspace-emulator-mutation')

/**
 * How much of core and the resources the fast tests hold in place. `npm run mutate`; for one folder and its own tests
 * `npm run mutate -- --mutate 'src/core/time/*.ts' --testFiles 'src/core/time/*.test.ts'`.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  mutate: [
    'src/{core,resources}/**/*.ts',
    '!src/**/*.test.ts',
    // What makes outputs is held in place by properties over random schemas, which take seconds each.
    '!src/json-schema/**',
  ],
  // The compiler knows the strings that are names, since nearly all are of literal types; the others are sentences.
  mutator: { excludedMutations: ['StringLiteral'] },
  // What runs while a module is loaded, such as schemas, would need all modules to be loaded anew for each mutant.
  ignoreStatic: true,
  coverageAnalysis: 'perTest',
  plugins: ['./test/mutation/runner.mjs'],
  testRunner: 'bounded',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  concurrency: 1,
  // The measured score less two points: which tests a mutant gets depends a little on how long they took.
  thresholds: { high: 90, low: 80, break: 79 },
  // Whatever a mutant may have left behind in the modules goes with the process.
  maxTestRunnerReuse: 500,
  timeoutMS: 2_000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 20,
  // The compiler that Stryker would look for here has no interface to JavaScript: it is told of a file that is not there.
  disableTypeChecks: false,
  tsconfigFile: 'none.json',
  // A copy of the project, outside of it: anyone who watches or checks the project does not see it.
  tempDirName: join(out, 'copy'),
  ignorePatterns: ['coverage', '.workspace-emulator'],
  reporters: ['clear-text', 'progress-append-only', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: join(out, 'report.json') },
}
