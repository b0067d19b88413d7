import { z } from 'zod'
import { refuse } from '../errors.ts'
import { compare, type Matchable } from '../log/request-match.ts'
import type { AnyOperation, Chosen } from '../operation.ts'
import type { VariantMatch } from '../scenarios/stub.ts'

/** One of the operations of a method and path, and the requests that it is for; undefined: all. */
interface Variant {
  readonly match?: VariantMatch | undefined
  readonly operation: AnyOperation
}

/**
 * The operation for a method and path with variants, one or more: of those that fit a request the one with the most conditions,
 * of equal ones the first.
 * @param otherwise serves a request that no variant fits; absent: it is refused with `route_not_found`
 */
export function operationOfVariants(variants: readonly Variant[], otherwise?: AnyOperation): AnyOperation {
  const ordered = variants.toSorted((a, b) => conditions(b) - conditions(a))
  const [{ operation }] = variants as [Variant]
  if (ordered[0]?.match === undefined) return operation
  const choose = (call: Chosen): AnyOperation => {
    // Only the parts of a request that such a match has are read.
    const fits = ({ match }: Variant) => !match || compare(match, call as Matchable).missed.length === 0
    const found = ordered.find(fits)?.operation ?? otherwise
    return found?.choose?.(call) ?? found ?? { ...operation, find: unmatched }
  }
  // The body of a request is needed for the choice, and checked by the chosen operation.
  return { ...operation, ...(operation.method !== 'GET' && { input: () => ({ body: z.unknown() }) }), choose }
}

function conditions({ match = {} }: Variant): number {
  return Object.values(match).reduce((sum, map) => sum + Object.keys(map ?? {}).length, 0)
}

function unmatched(): never {
  return refuse('route_not_found', {
    detail: 'The path has responses for certain requests, and none of them is for this one.',
    mitigation:
      'Add one without "match" for all other requests; "workspace-emulator call GET /stubs" and "workspace-emulator endpoints" list the present ones.',
  })
}
