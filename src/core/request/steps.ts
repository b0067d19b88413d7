/**
 * The way of a request, in order. `receive` and `route` are the adapter's and come before there is a call; `pipeline.ts` takes
 * the others. Faults act in `faultsBefore` and `faultsAfter`, before and after the handler.
 */
export const STEPS = [
  'receive',
  'route',
  'runDueEvents',
  'authenticate',
  'rateLimit',
  'checkPathIds',
  'authorize',
  'faultsBefore',
  'loadTarget',
  'replay',
  'validate',
  'poll',
  'handle',
  'commit',
  'faultsAfter',
  'log',
] as const

export type Step = (typeof STEPS)[number]
