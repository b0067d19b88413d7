import type { Preset } from '../preset.ts'
import { bodyPresets } from './bodies.ts'
import { connectionPresets } from './connections.ts'
import { keyPresets } from './keys.ts'
import { rateLimitPresets } from './rate-limits.ts'
import { retryPresets } from './retries.ts'

/** Presets that do not depend on a resource. */
export const generalPresets: readonly Preset[] = [
  ...rateLimitPresets,
  ...retryPresets,
  ...connectionPresets,
  ...bodyPresets,
  ...keyPresets,
]
