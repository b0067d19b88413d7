import type { Preset } from './preset.ts'

/** Presets that know no resource: rate limits, retries, connections, bodies, keys. */
export const generalPresets: readonly Preset[] = []
