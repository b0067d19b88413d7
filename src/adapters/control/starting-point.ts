import * as z from 'zod'
import { type InputOf, objectAs, timestamp } from '../../core/fields.ts'
import { type Issue, isObject, type JsonObject } from '../../core/json.ts'
import type { Origin } from '../../core/sandboxes/origin.ts'
import type { StubDraft } from '../../core/scenarios/stub.ts'
import { SHIPPED_FIXTURES } from '../fixtures.ts'

/** A starting state, or what is to be added to one. */
export type FixturesDocument = {
  /** What it is based on: `empty`, `demo` or `large`. */
  readonly extends?: string
  readonly description?: string
  readonly organization?: Readonly<Record<string, unknown>>
  /** How many records of a collection are to be generated. */
  readonly generate?: Readonly<Record<string, number>>
  readonly collections?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  readonly stubs?: readonly StubDraft[]
}

/** What a sandbox starts from, where it is to differ from what the emulator was started with. */
export const startingPoint = () =>
  z.strictObject({
    /** Shipped data, or a document. */
    fixtures: z
      .union([z.enum(SHIPPED_FIXTURES), objectAs<FixturesDocument>()], {
        error: `must be one of ${SHIPPED_FIXTURES.join(', ')}, or a fixtures document`,
      })
      .optional(),
    /** Decides everything that is left to chance. */
    seed: z.int().optional(),
    /** Virtual instant, ISO 8601 with a zone. */
    clock: timestamp().optional(),
  })

export type StartingPoint = InputOf<typeof startingPoint>

/** The fields that were given, as an origin. */
export function originOf({ fixtures, seed, clock }: StartingPoint): Origin {
  return {
    ...(fixtures === undefined ? {} : { fixtures: fixtures as unknown as string | JsonObject }),
    ...(seed === undefined ? {} : { seed }),
    ...(clock === undefined ? {} : { clock }),
  }
}

/**
 * What is wrong with the base of a fixtures document. A caller of this interface may name shipped data, never files: what
 * a file holds could be read from the complaints.
 */
export function foreignExtends(fixtures: unknown, at: string): Issue[] {
  const base = isObject(fixtures) ? fixtures.extends : undefined
  if (base === undefined || SHIPPED_FIXTURES.some((name) => name === base)) return []
  return [{ pointer: `${at}/extends`, detail: `must be one of ${SHIPPED_FIXTURES.join(', ')}` }]
}
