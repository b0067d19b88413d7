import type { Preset } from '../preset.ts'
import type { Action } from '../primitive.ts'

/** Makes presets of one family that meet the next request, whatever it is about. */
export function onceIn(family: Preset['family']) {
  return (name: string, description: string, actions: readonly Action[]): Preset => {
    return { name, family, description, match: 'everything', when: { nth: 1 }, do: actions }
  }
}
