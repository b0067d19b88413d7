import * as z from 'zod'
import { refuse } from '../errors.ts'
import { compare, type Matchable, type RequestMatch } from '../log/request-match.ts'
import type { AnyOperation, Chosen } from '../operation.ts'

/** One of the operations of a method and path, and the requests that it is for; undefined: all. */
export interface Variant {
  readonly match: Pick<RequestMatch, 'query' | 'headers' | 'body'> | undefined
  readonly operation: AnyOperation
}

/**
 * The operation for a method and path with several variants: of those that fit a request the one with the most conditions, of
 * equal ones the first.
 * @param otherwise serves a request that no variant fits; absent: it is refused with `route_not_found`
 */
export function operationOfVariants(
  [first, ...more]: readonly [Variant, ...Variant[]],
  otherwise?: AnyOperation,
): AnyOperation {
  if (first.match === undefined && more.length === 0) return first.operation
  const ordered = [first, ...more].sort((a, b) => conditions(b) - conditions(a))
  const { operation } = first
  const choose = (call: Chosen): AnyOperation => {
    const found = ordered.find(({ match }) => fits(match, call))?.operation ?? otherwise
    return found?.choose?.(call) ?? found ?? { ...operation, find: unmatched }
  }
  // The body of a request is needed for the choice, and checked by the chosen operation.
  return { ...operation, ...(operation.method !== 'GET' && { input: () => ({ body: z.unknown() }) }), choose }
}

function conditions({ match = {} }: Variant): number {
  return Object.values(match).reduce((sum, map) => sum + Object.keys(map ?? {}).length, 0)
}

function fits(match: Variant['match'], call: Chosen): boolean {
  // Only the parts of a request that such a match has are read.
  return match === undefined || compare(match, call as Matchable).missed.length === 0
}

function unmatched(): never {
  return refuse('route_not_found', {
    detail: 'The path has responses for certain requests, and none of them is for this one.',
    mitigation:
      'Add one without "match" for all other requests; GET /__emulator/stubs and GET /__emulator/endpoints list the present ones.',
  })
}
