import { replayBundle } from '../../src/adapters/cli/replay/run.ts'
import type { RecordingBundle } from '../../src/core/record/bundle.ts'

/** Repeats a bundle in this process, and returns the first difference. */
export async function replayed(bundle: RecordingBundle, until = Number.POSITIVE_INFINITY) {
  const { emulator, difference } = await replayBundle(bundle, { until, scenarios: 'none', listen: false })
  await emulator.close()
  return difference
}
