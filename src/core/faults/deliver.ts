import * as z from 'zod'
import { duration, intBetween } from '../fields.ts'
import { json, membersOf, someOf } from '../strict-input.ts'
import type { DeliveryFaults, Treatment } from '../webhooks/records.ts'
import type { Decision } from './decision.ts'
import type { ParametersOf } from './primitive.ts'
import type { StatePrimitive } from './state-primitive.ts'

declare module './primitive.ts' {
  interface Primitives {
    readonly deliver: DeliverFault
  }
}

/** What happens to a webhook: a rule for these matches `webhook`. With `when`, the rule matches a request instead. */
export type DeliverFault = ParametersOf<typeof schema>

function schema() {
  return someOf({
    /** How often it is delivered in all, with the same id; 1 to 10. */
    copies: intBetween(1, 10).optional(),
    /** `after-next`: after the next one to the same subscriber, at most 60 s of virtual time later. */
    order: z.enum(['after-next']).optional(),
    /** Virtual time by which its first attempt is late. */
    delay: duration().optional(),
    /** It is never sent. */
    drop: z.boolean().optional(),
    /** The response of the request is held until the webhooks that are due have been delivered. */
    when: z.enum(['before-response']).optional(),
    /** Virtual times between attempts instead of the schedule's; an empty list: one attempt. */
    retries: z.array(duration()).max(100).optional(),
    /** Real milliseconds that an attempt may take. */
    timeout_ms: intBetween(1, 600_000).optional(),
    /** Default `valid`. `old`: its timestamp is older than webhooks.signature allows; `wrong` where that names no timestamp_header. */
    sign: z.enum(['valid', 'wrong', 'missing', 'old']).optional(),
    /** JSON Merge Patch over what is delivered. */
    body: json().optional(),
  }).refine((value) => value.when === undefined || membersOf(value).length === 1, {
    error:
      'stands alone: a rule that holds a response is about a request, and the others are about a webhook',
    path: ['when'],
  })
}

export const deliver: StatePrimitive<'deliver'> = {
  name: 'deliver',
  kind: 'state',
  description: 'webhooks that come twice, late, out of order, forged, or never',
  schema,
  step: () => 'log',
  holds: () => true,
  clash: ({ when }, about) => {
    if (about === 'webhook') {
      const message = 'holds the response of a request: match the request, not a webhook'
      return when === undefined ? undefined : { path: ['when'], message }
    }
    const message = 'is done to a webhook: match it by {"webhook": type}, or with "*" all of them'
    return when === undefined ? { path: [], message } : undefined
  },
  effect: {
    webhook: treatmentOf,
    waitsForWebhooks: (decision) =>
      decision.given('deliver').some(({ parameters }) => parameters.when === 'before-response'),
  },
}

/**
 * Composes the `deliver` actions of the rules that fired on a webhook, in order: of each parameter the last that was given
 * counts, and patches of the body are applied one after the other. What is dropped is not copied.
 */
export function treatmentOf(decision: Decision): Treatment {
  const actions = decision.given('deliver').map(({ parameters }) => parameters)
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

// Fields without a value are left out: the record is data, and reads the same after a restart.
function given<K extends 'order' | 'delay' | 'retries' | 'timeout_ms'>(
  actions: readonly DeliverFault[],
  name: K,
): Pick<DeliverFault, K> | undefined {
  const value = last(actions, name)
  return value === undefined ? undefined : ({ [name]: value } as Pick<DeliverFault, K>)
}
