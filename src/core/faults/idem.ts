import * as z from 'zod'
import { refuse } from '../errors.ts'
import { intBetween } from '../fields.ts'
import type { Exchange } from '../request/exchange.ts'
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
    /** What keys are unique in. Default `teamspace`: one teamspace and operation. */
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
  exchange.keyPlace = placeOf(all, exchange)
  exchange.mismatchStatus = all.mismatch_status
  if (all.concurrent === true) {
    refuse('idempotency_key_in_use', {
      detail: 'A request with the same Idempotency-Key is still under way.',
      assumed: [['U059']],
    })
  }
  // Part of the request's transaction: when it is refused, the record is still there.
  if (all.forget === true) exchange.tx.delete(IDEMPOTENCY, idempotencyRowOf(exchange, key))
}

/** What keys are unique in, as the first part of the id of a record; undefined for the teamspace. */
function placeOf({ scope }: IdemFault, { caller }: Exchange): string | undefined {
  if (scope === 'organization') return `@organization:${caller.organization_id}`
  return scope === 'api_key' ? `@api_key:${caller.key_id}` : undefined
}
