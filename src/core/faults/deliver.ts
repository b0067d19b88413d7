import { z } from 'zod'
import { durationUpTo, intBetween } from '../fields.ts'
import { json, membersOf, someOf } from '../strict-input.ts'
import { type DeliveryFaults, MAX_DELAY, type Treatment } from '../webhooks/records.ts'
import type { Decision } from './decision.ts'
import type { ParametersOf } from './primitive.ts'
import type { StatePrimitive } from './state-primitive.ts'

/** Changes the delivery of a webhook: the rule matches `webhook`. With `when`, the rule matches a request instead. */
export type DeliverFault = ParametersOf<typeof schema>

function schema() {
  return someOf({
    /** Total number of deliveries with the same id, 1 to 10. */
    copies: intBetween(1, 10).optional(),
    /** `after-next`: after the next one to the same subscriber, at most 60 s of virtual time later. */
    order: z.enum(['after-next']).optional(),
    /** Virtual duration by which its first attempt is delayed; at most 366d. */
    delay: durationUpTo(MAX_DELAY).optional(),
    /** It is never sent. */
    drop: z.boolean().optional(),
    /** The response of the request is held until the webhooks that are due have been delivered. */
    when: z.enum(['before-response']).optional(),
    /** Virtual durations between attempts, instead of the setting `webhooks.retry`; at most 100. Empty: one attempt. */
    retries: z.array(durationUpTo(MAX_DELAY)).max(100).optional(),
    /** Real milliseconds that an attempt may take, 1 to 600,000. Default: the setting `webhooks.timeout`. */
    timeout_ms: intBetween(1, 600_000).optional(),
    /** Default `valid`. `old`: a timestamp older than `webhooks.signature` allows; without a `timestamp_header`, as `wrong`. */
    sign: z.enum(['valid', 'wrong', 'missing', 'old']).optional(),
    /** The first attempts for which `sign` counts, 1 to 100; later ones have a valid signature. Default: all. */
    sign_attempts: intBetween(1, 100).optional(),
    /** JSON Merge Patch for the body. */
    body: json().optional(),
  })
    .refine((value) => value.when === undefined || membersOf(value).length === 1, {
      error:
        'must be the only parameter: it holds the response of a request, and the others apply to webhooks',
      path: ['when'],
    })
    .refine(({ sign, sign_attempts }) => sign_attempts === undefined || sign !== undefined, {
      error: 'limits the parameter sign: give that too, such as "sign": "wrong"',
      path: ['sign_attempts'],
    })
}

export const deliver: StatePrimitive<'deliver', typeof schema> = {
  name: 'deliver',
  kind: 'state',
  description: 'webhooks that come twice, late, out of order, forged, or never',
  schema,
  example: { match: { webhook: '*' }, parameters: { copies: 2 } },
  step: () => 'log',
  holds: () => true,
  clash: ({ when }, about) => {
    if (about === 'webhook') {
      const message = 'holds the response of a request: match the request, not a webhook'
      return when === undefined ? undefined : { path: ['when'], message }
    }
    const message = 'applies to webhooks: match one type with {"webhook": type}, or all with "*"'
    return when === undefined ? { path: [], message } : undefined
  },
  effect: {
    webhook: treatmentOf,
    waitsForWebhooks: (decision) =>
      decision.given('deliver').some(({ parameters }) => parameters.when === 'before-response'),
  },
}

/**
 * Composes the `deliver` actions of the rules that fired on a webhook, in order: the last value of each parameter counts, and
 * patches of the body are applied one after the other. A dropped webhook is not copied.
 */
export function treatmentOf(decision: Decision): Treatment {
  const actions = decision.given('deliver').map(({ parameters }) => parameters)
  const rules = decision.fired.map(({ rule }) => rule.id)
  // The rest has only fields with a value, so that the record is the same after a restart.
  const last: DeliverFault = Object.assign({}, ...actions)
  const { copies = 1, drop, when: _, sign, sign_attempts, body: __, ...rest } = last
  if (drop === true) return { copies: 1, faults: { rules, drop } }
  const [gate] = decision.given('gate')
  const { waiting, after } = gate?.parameters.release ?? {}
  const body = actions.flatMap((each) => (each.body === undefined ? [] : [each.body]))
  const faults: DeliveryFaults = {
    rules,
    ...rest,
    ...(sign !== undefined && sign !== 'valid' && { sign, ...(sign_attempts && { sign_attempts }) }),
    ...(gate && { gate: { rule: gate.rule.id, ...(waiting && { waiting }), ...(after && { after }) } }),
    ...(body.length > 0 && { body }),
  }
  return { copies, faults }
}
