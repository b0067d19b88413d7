import { refuse } from '../../errors.ts'
import type { Exchange } from '../../request/exchange.ts'
import { IDEMPOTENCY } from '../../request/idempotency.ts'
import { allOf, type IdemFault } from '../actions.ts'

/** What the rules say of Idempotency-Keys: of each parameter, what was given last. */
export function idemOf({ decision }: Exchange): IdemFault {
  if (decision === undefined) return NOTHING
  return Object.assign({}, ...allOf(decision.actions, 'idem'))
}

const NOTHING: IdemFault = {}

/** What keys are unique in, as the first part of the id of a record; undefined where nothing is said of it. */
export function placeOf({ scope }: IdemFault, { caller }: Exchange): string | undefined {
  if (scope === 'organization') return `@organization:${caller.organization_id}`
  return scope === 'api_key' ? `@api_key:${caller.key_id}` : undefined
}

/** Before anybody looks at what is remembered under a key. `id`: that of its record. */
export function beforeRecall({ concurrent, forget }: IdemFault, exchange: Exchange, id: string): void {
  if (concurrent === true) {
    refuse('idempotency_key_in_use', {
      detail: 'A request with the same Idempotency-Key is still under way.',
      assumed: ['U059'],
    })
  }
  // Part of the request's transaction: when it is refused, the record is still there.
  if (forget === true) exchange.tx.delete(IDEMPOTENCY, id)
}
