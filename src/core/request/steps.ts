/**
 * The steps of a request, in order. The adapter does `receive` and `route`, which result in a call; `pipeline.ts` does the
 * others. Faults act in `faultsBefore` and `faultsAfter`, before and after the handler.
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
