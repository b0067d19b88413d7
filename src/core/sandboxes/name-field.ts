import { z } from 'zod'
import { refuseInvalid } from '../errors.ts'
import { NAME_PATTERN, NAME_RULE } from './name.ts'

const MUST_BE = `must be ${NAME_RULE}`

/**
 * A field that names a sandbox, or a snapshot.
 * @example
 * z.strictObject({ name: nameField() })
 */
export function nameField() {
  return z.string().regex(NAME_PATTERN, { error: MUST_BE })
}

/**
 * Refuses an invalid name.
 * @param at its place in the request, as a JSON Pointer
 */
export function refuseBadName(name: string, at: string): void {
  if (NAME_PATTERN.test(name)) return
  refuseInvalid([{ pointer: at, detail: MUST_BE }])
}
