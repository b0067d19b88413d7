import { ask, type Output } from './api.ts'
import { sharedLive } from './loaded.tsx'

export type Point = Output<'GET /coverage'>['data'][number]

/** The points of the contract, for every part of the page that shows them. */
export const useCoverage = sharedLive(() => ask('GET /coverage'), ['request', 'event'])
