import { refuseInvalid } from '../../core/errors.ts'
import { FixturesError } from '../../core/fixtures-error.ts'

/**
 * Throws the error of a fixtures document as a refusal with pointers below `at`; a defect is thrown unchanged. A generator
 * without the records that it refers to throws a plain Error, whose message is for the author of the document.
 */
export function refuseFixtures(error: unknown, at: string): never {
  if (error instanceof FixturesError) {
    refuseInvalid(error.issues.map((issue) => ({ ...issue, pointer: at + issue.pointer })))
  }
  if (error instanceof Error && error.constructor === Error) {
    refuseInvalid([{ pointer: `${at}/generate`, detail: error.message }])
  }
  throw error
}
