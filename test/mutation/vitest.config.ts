import { defineConfig } from 'vitest/config'
import { tags } from '../spec/tags.ts'
import { warmPool } from './warm-pool.ts'

// Tests with real time, processes, files or hundreds of random sandboxes: too slow for thousands of mutants.
const DEAR = [
  'control-guards',
  'control-openapi',
  'determinism',
  'events-feed',
  'express',
  'faults-persist',
  'faults-state-property',
  'faults-wire-stages',
  'operations/refusals',
  'presets/presets',
  'requests-wait',
  'sandboxes-persist',
  'sandboxes-retired',
  'scenarios-files',
  'scenarios-persist',
  'scenarios-shipped',
  'snapshots-persist',
  'state-document-property',
]

export default defineConfig({
  plugins: [warmPool()],
  test: {
    tags,
    include: [
      'src/{core,service,server}/**/*.test.ts',
      'test/spec/**/*.test.ts',
      'test/fixtures{,-rules,-bounds}.test.ts',
      'test/assumptions.test.ts',
    ],
    exclude: [
      '**/*.slow.test.ts',
      ...DEAR.map((name) => `test/spec/**/${name}.test.ts`),
      // A mutant in a loop over 100 MiB.
      'src/server/http/json-body-large.test.ts',
      // Its properties count the useful random schemas, and here they run only for a moment.
      'src/service/batch-predictions/generate-output.test.ts',
    ],
    setupFiles: ['test/mutation/setup.ts'],
    isolate: false,
    // A promise that a mutant leaves pending is detected by this limit, not by that of the whole run.
    testTimeout: 10_000,
  },
})
