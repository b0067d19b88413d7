import type { Preset } from '../../../core/faults/preset.ts'
import { admissionPresets } from './admission.ts'
import { creationPresets } from './creation.ts'
import { lifecyclePresets, shapePresets, webhookPresets } from './lifecycle.ts'
import { resultLinePresets } from './result-lines.ts'

/** Ready-made faults about batches. */
export const batchPresets: readonly Preset[] = [
  ...admissionPresets,
  ...creationPresets,
  ...lifecyclePresets,
  ...shapePresets,
  ...resultLinePresets,
  ...webhookPresets,
]
