import type { Proof } from './proof.ts'

/** Every proof by its id, loaded when it is asked for. */
export const proofs: ReadonlyMap<string, () => Promise<Proof>> = new Map([
  ['D1', async () => (await import('./d1-kill.ts')).d1],
  ['D3', async () => (await import('./d3-io.ts')).d3],
  ['D4', async () => (await import('./d4-lock.ts')).d4],
  ['D5', async () => (await import('./d5-edits.ts')).d5],
  ['D6', async () => (await import('./d6-loader.ts')).d6],
  ['D7', async () => (await import('./d7-signals.ts')).d7],
  ['F1', async () => (await import('./f1-requests.ts')).f1],
  ['F2', async () => (await import('./f2-wire.ts')).f2],
  ['F3', async () => (await import('./f3-batches.ts')).f3],
  ['F4', async () => (await import('./f4-limiter.ts')).f4],
  ['F5', async () => (await import('./f5-dependence.ts')).f5],
])
