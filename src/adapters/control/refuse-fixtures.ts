import { refuseInvalid } from '../../core/errors.ts'
import { FixturesError } from '../fixtures.ts'

/**
 * What went wrong with a fixtures document, as a refusal with pointers below `at`; a defect is thrown on. A generator that
 * lacks the records it refers to says so in a plain Error, whose message is written for the author of the document.
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
