import * as z from 'zod'
import { keyScope } from '../core-assumptions.ts'
import { refuse } from '../errors.ts'
import { intBetween } from '../fields.ts'
import { IDEMPOTENCY } from '../request/idempotency.ts'
import { idempotencyKeyOf, idempotencyRowOf } from '../request/replay.ts'
import { someOf } from '../strict-input.ts'
import type { ParametersOf } from './primitive.ts'
import type { Fault, StatePrimitive } from './state-primitive.ts'

declare module './primitive.ts' {
  interface Primitives {
    readonly idem: IdemFault
  }
}

/** What happens to the Idempotency-Key of a request. */
export type IdemFault = ParametersOf<typeof schema>

function schema() {
  return someOf({
    /** Refused with 409 as if the first request with this key were still under way. */
    concurrent: z.boolean().optional(),
    /** Status of a key that comes again with another body. */
    mismatch_status: intBetween(400, 599).optional(),
    /** What keys are unique in, beside the operation. Default: what the setting `idempotency.scope` says. */
    scope: z.enum(['teamspace', 'organization', 'api_key']).optional(),
    /** What is kept under the key is forgotten first: the request is made once more. */
    forget: z.boolean().optional(),
  })
}

export const idem: StatePrimitive<'idem'> = {
  name: 'idem',
  kind: 'state',
  description: 'keys that are in use, forgotten, or unique in something else',
  schema,
  step: () => 'replay',
  effect: { replay },
}

// Of each parameter, the last that was given counts.
function replay({ exchange, given }: Fault<IdemFault>): void {
  const key = idempotencyKeyOf(exchange)
  if (key === undefined) return
  const all: IdemFault = Object.assign({}, ...given.map(({ parameters }) => parameters))
  exchange.keyPlace = all.scope
  exchange.mismatchStatus = all.mismatch_status
  if (all.concurrent === true) {
    refuse('idempotency_key_in_use', {
      detail: 'A request with the same Idempotency-Key is still under way.',
      assumed: [[keyScope.item, keyScope]],
    })
  }
  // Part of the request's transaction: when it is refused, the record is still there.
  if (all.forget === true) exchange.tx.delete(IDEMPOTENCY, idempotencyRowOf(exchange, key))
}
