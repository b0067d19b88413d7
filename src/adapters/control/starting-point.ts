import * as z from 'zod'
import { anyObject, timestamp } from '../../core/fields.ts'
import { type Issue, isObject, type JsonObject } from '../../core/json.ts'
import type { Origin } from '../../core/sandboxes/origin.ts'
import { SHIPPED_FIXTURES } from '../fixtures.ts'

/** The members that say what a sandbox is to start from. */
export const startingPoint = () => ({
  fixtures: z
    .union([z.enum(SHIPPED_FIXTURES), anyObject()], {
      error: `must be one of ${SHIPPED_FIXTURES.join(', ')}, or a fixtures document`,
    })
    .optional(),
  seed: z.int().optional(),
  clock: timestamp().optional(),
})

/** What a body that was checked by {@link startingPoint} gives. */
export interface StartingPoint {
  readonly fixtures?: string | Record<string, unknown> | undefined
  readonly seed?: number | undefined
  readonly clock?: string | undefined
}

/** The members that were given, as an origin. */
export function originOf({ fixtures, seed, clock }: StartingPoint): Origin {
  return {
    ...(fixtures === undefined ? {} : { fixtures: fixtures as string | JsonObject }),
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
