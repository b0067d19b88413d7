import type { Issue } from '../kernel/json.ts'

/** The issue of a record whose member at `pointer` names another one that was not found; nothing when it was. */
export function missing(found: object | undefined, pointer: string): readonly Issue[] {
  return found === undefined ? [{ pointer, detail: 'names a record that this world does not have' }] : []
}
