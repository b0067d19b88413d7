import { defineConfig } from 'vitest/config'
import { tags } from '../spec/tags.ts'
import { warmPool } from './warm-pool.ts'

// Seconds of real time, processes, files on a disk, or hundreds of random sandboxes: too dear for thousands of mutants.
const DEAR = [
  'control-guards',
  'control-openapi',
  'control-openapi-routes',
  'events-feed',
  'express',
  'faults-deliver-crash',
  'faults-persist',
  'faults-state-property',
  'faults-wire-stages',
  'presets/presets',
  'refusals',
  'requests-wait',
  'sandbox-selection-property',
  'sandboxes-persist',
  'sandboxes-retired',
  'scenarios-files',
  'scenarios-hot-reload',
  'scenarios-persist',
  'scenarios-shipped',
  'snapshots-persist',
  'webhooks-crash',
]

export default defineConfig({
  plugins: [warmPool()],
  test: {
    tags,
    include: [
      'src/{core,resources}/**/*.test.ts',
      'test/spec/**/*.test.ts',
      'test/fixtures-{rules,bounds}.test.ts',
      'test/assumptions.test.ts',
    ],
    exclude: [
      '**/*.slow.test.ts',
      ...DEAR.map((name) => `test/spec/**/${name}.test.ts`),
      // Its properties count how many of their random schemas were of use, and here they run for an instant only.
      'src/resources/batch-predictions/generate-output.test.ts',
    ],
    setupFiles: ['test/mutation/setup.ts'],
    isolate: false,
    // A promise that a mutant has left open is found out by this, not by the bound of a whole run.
    testTimeout: 10_000,
  },
})
