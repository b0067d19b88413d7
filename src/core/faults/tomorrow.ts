import { tomorrowChoice, tomorrowOf } from '../tomorrow.ts'
import type { StatePrimitive } from './state-primitive.ts'

export const tomorrowFault: StatePrimitive<'tomorrow', typeof tomorrowChoice> = {
  name: 'tomorrow',
  kind: 'state',
  description: 'one response as a later version of the service may send it, as the setting tomorrow does',
  schema: tomorrowChoice,
  example: { parameters: { only: ['field'] } },
  step: () => 'authenticate',
  effect: {
    authenticate: ({ exchange, given }) => {
      for (const { parameters } of given)
        exchange.tomorrow = tomorrowOf(parameters, () => exchange.seed, exchange.call.operation.name)
    },
  },
}
