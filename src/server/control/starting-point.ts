import { z } from 'zod'
import { type FixturesDocument, SHIPPED_FIXTURES } from '../../adapters/fixtures.ts'
import { refuseInvalid } from '../../core/errors.ts'
import { type InputOf, objectAs } from '../../core/fields.ts'
import { FixturesError } from '../../core/fixtures-error.ts'
import { type Issue, isObject, type JsonObject } from '../../core/json.ts'
import type { Origin } from '../../core/sandboxes/origin.ts'
import { clockInstant } from '../../core/time/clock.ts'

/** The starting state of a sandbox. Absent fields have the values of the emulator's start. */
export const startingPoint = () =>
  z.strictObject({
    /** The name of shipped fixtures, or a document. */
    fixtures: z
      .union([z.enum(SHIPPED_FIXTURES), objectAs<FixturesDocument>()], {
        error: `must be one of ${SHIPPED_FIXTURES.join(', ')}, or a fixtures document`,
      })
      .optional(),
    /** Seed of all random values. */
    seed: z.int().optional(),
    /** Virtual instant, ISO 8601 with a zone. */
    clock: clockInstant().optional(),
  })

export type StartingPoint = InputOf<typeof startingPoint>

/** The given fields, as an origin. */
export function originOf({ fixtures, seed, clock }: StartingPoint): Origin {
  return {
    ...(fixtures === undefined ? {} : { fixtures: fixtures as unknown as string | JsonObject }),
    ...(seed === undefined ? {} : { seed }),
    ...(clock === undefined ? {} : { clock }),
  }
}

/**
 * The issue of a wrong base of a fixtures document; empty for a valid one. A client may name shipped fixtures, never files: the
 * errors could show the content of a file.
 */
export function foreignExtends(fixtures: unknown, at: string): Issue[] {
  const base = isObject(fixtures) ? fixtures.extends : undefined
  if (base === undefined || SHIPPED_FIXTURES.some((name) => name === base)) return []
  return [{ pointer: `${at}/extends`, detail: `must be one of ${SHIPPED_FIXTURES.join(', ')}` }]
}

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
