import { z } from 'zod'
import { keyScope } from '../core-assumptions.ts'
import { refuse } from '../errors.ts'
import { intBetween } from '../fields.ts'
import { IDEMPOTENCY } from '../request/idempotency.ts'
import { idempotencyKeyOf, idempotencyRowOf } from '../request/replay.ts'
import { someOf } from '../strict-input.ts'
import type { ParametersOf } from './primitive.ts'
import type { Fault, StatePrimitive } from './state-primitive.ts'

/** How the Idempotency-Key of a request is handled. */
export type IdemFault = ParametersOf<typeof schema>

function schema() {
  return someOf({
    /** Refuses with 409, as if the first request with this key were still in progress. */
    concurrent: z.boolean().optional(),
    /** Status for a key that is used again with a different body, 400 to 599. */
    mismatch_status: intBetween(400, 599).optional(),
    /** The scope in which keys of an operation are unique. Default: the setting `idempotency.scope`. */
    scope: z.enum(['teamspace', 'organization', 'api_key']).optional(),
    /** Removes the record of the key first, so that the request is handled again. */
    forget: z.boolean().optional(),
  })
}

export const idem: StatePrimitive<'idem', typeof schema> = {
  name: 'idem',
  kind: 'state',
  description: 'keys that are in use, forgotten, or unique in another scope',
  schema,
  example: { match: { headers: { 'idempotency-key': '*' } }, parameters: { concurrent: true } },
  step: () => 'replay',
  effect: { replay },
}

// The last value of each parameter counts.
function replay({ exchange, given }: Fault<IdemFault>): void {
  const key = idempotencyKeyOf(exchange)
  if (key === undefined) return
  const all: IdemFault = Object.assign({}, ...given.map(({ parameters }) => parameters))
  exchange.keyScope = all.scope
  exchange.mismatchStatus = all.mismatch_status
  if (all.concurrent === true) {
    refuse('idempotency_key_in_use', {
      detail: 'A request with the same Idempotency-Key is still in progress.',
      assumed: [[keyScope.item, keyScope]],
    })
  }
  // In the request's transaction: if the request is refused, the record is kept.
  if (all.forget === true) exchange.tx.delete(IDEMPOTENCY, idempotencyRowOf(exchange, key))
}
