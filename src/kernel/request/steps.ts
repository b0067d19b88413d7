/**
 * The way of a request, in order. `receive` and `route` are the door's and come before there is a call; `perform.ts` takes
 * the others. `interfere` and `interfere-after` are where faults act, before and after the handler.
 */
export const STEPS = [
  'receive',
  'route',
  'settle',
  'identify',
  'admit',
  'authorize',
  'interfere',
  'find',
  'recall',
  'understand',
  'poll',
  'handle',
  'remember',
  'interfere-after',
  'conclude',
] as const

export type Step = (typeof STEPS)[number]
