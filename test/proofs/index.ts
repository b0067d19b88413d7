import type { Proof } from './proof.ts'

/** All proofs by id, imported on demand. */
export const proofs: ReadonlyMap<string, () => Promise<Proof>> = new Map([
  ['D1', async () => (await import('./durability/d1-kill.ts')).d1],
  ['D5', async () => (await import('./durability/d5-edits.ts')).d5],
  ['D7', async () => (await import('./durability/d7-signals.ts')).d7],
  ['D8', async () => (await import('./durability/d8-one-writer.ts')).d8],
  ['F1', async () => (await import('./api/f1-requests.ts')).f1],
  ['F2', async () => (await import('./api/f2-wire.ts')).f2],
  ['F3', async () => (await import('./api/f3-batches.ts')).f3],
  ['F4', async () => (await import('./api/f4-limiter.ts')).f4],
  ['F5', async () => (await import('./api/f5-dependence.ts')).f5],
  ['F8', async () => (await import('./api/f8-express.ts')).f8],
  ['F6', async () => (await import('./resources/f6-advance.ts')).f6],
  ['S1', async () => (await import('./resources/s1-soak.ts')).s1],
  ['T1', async () => (await import('./time/t1-work.ts')).t1],
  ['X1', async () => (await import('./security/x1-control-guards.ts')).x1],
  ['X2', async () => (await import('./security/x2-cors.ts')).x2],
  ['X3', async () => (await import('./security/x3-targets.ts')).x3],
  ['X4', async () => (await import('./security/x4-names.ts')).x4],
  ['X5', async () => (await import('./security/x5-displayed.ts')).x5],
  ['X6', async () => (await import('./security/x6-canaries.ts')).x6],
])
