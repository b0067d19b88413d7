import type { DeliveryFaults } from '../../webhooks/records.ts'
import { allOf, type DeliverFault } from '../actions.ts'
import type { Decision } from '../decision.ts'

/** What is to become of one webhook. */
export interface Treatment {
  /** Deliveries in all; 1 without a fault. */
  readonly copies: number
  /** What each of them is marked with. */
  readonly faults: DeliveryFaults | null
}

/**
 * Composes the `deliver` actions of the rules that fired on a webhook, in order: of each parameter the last that was given
 * counts, and patches of the body are applied one after the other. What is dropped is not copied.
 */
export function treatmentOf(decision: Decision | undefined): Treatment {
  if (decision === undefined || decision.fired.length === 0) return { copies: 1, faults: null }
  const actions = allOf(decision.actions, 'deliver')
  const rules = decision.fired.map(({ rule }) => rule.id)
  if (last(actions, 'drop') === true) return { copies: 1, faults: { rules, drop: true } }
  const sign = last(actions, 'sign')
  const body = actions.flatMap((each) => (each.body === undefined ? [] : [each.body]))
  const faults: DeliveryFaults = {
    rules,
    ...given(actions, 'order'),
    ...given(actions, 'delay'),
    ...given(actions, 'retries'),
    ...given(actions, 'timeout_ms'),
    ...(sign !== undefined && sign !== 'valid' && { sign }),
    ...(body.length > 0 && { body }),
  }
  return { copies: last(actions, 'copies') ?? 1, faults }
}

function last<K extends keyof DeliverFault>(actions: readonly DeliverFault[], name: K): DeliverFault[K] {
  return actions.findLast((each) => each[name] !== undefined)?.[name]
}

// Members without a value are left out: the record is data, and reads the same after a restart.
function given<K extends 'order' | 'delay' | 'retries' | 'timeout_ms'>(
  actions: readonly DeliverFault[],
  name: K,
): Pick<DeliverFault, K> | undefined {
  const value = last(actions, name)
  return value === undefined ? undefined : ({ [name]: value } as Pick<DeliverFault, K>)
}
