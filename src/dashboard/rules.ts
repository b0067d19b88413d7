import { ask, type Output } from './api.ts'
import { sharedLive } from './loaded.tsx'

export type Rule = Output<'GET /faults'>['data'][number]

/** The fault rules, for every part of the page that shows them. */
export const useRules = sharedLive(
  async (): Promise<readonly Rule[]> => (await ask('GET /faults')).data,
  ['request', 'scenario', 'clock', 'transition', 'gate'],
)
