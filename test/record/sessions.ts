import { replay } from '../../src/adapters/cli/replay/run.ts'
import type { RecordingBundle } from '../../src/core/record/bundle.ts'

/** Repeats a bundle as `workspace-emulator replay` does, and returns the first difference. */
export async function replayed(bundle: RecordingBundle, until = Number.POSITIVE_INFINITY) {
  const { emulator, difference } = await replay(bundle, { until, scenarios: 'none', listen: false })
  await emulator.close()
  return difference
}
