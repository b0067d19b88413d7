import type { Proof } from './proof.ts'

/** Every proof by its id, loaded when it is asked for. */
export const proofs: ReadonlyMap<string, () => Promise<Proof>> = new Map([
  ['D1', async () => (await import('./d1-kill.ts')).d1],
])
