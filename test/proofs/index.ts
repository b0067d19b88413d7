import type { Proof } from './proof.ts'

/** Every proof by its id, loaded when it is asked for. */
export const proofs: ReadonlyMap<string, () => Promise<Proof>> = new Map([
  ['D1', async () => (await import('./durability/d1-kill.ts')).d1],
  ['D3', async () => (await import('./durability/d3-io.ts')).d3],
  ['D4', async () => (await import('./durability/d4-lock.ts')).d4],
  ['D5', async () => (await import('./durability/d5-edits.ts')).d5],
  ['D6', async () => (await import('./durability/d6-loader.ts')).d6],
  ['D7', async () => (await import('./durability/d7-signals.ts')).d7],
  ['F1', async () => (await import('./api/f1-requests.ts')).f1],
  ['F2', async () => (await import('./api/f2-wire.ts')).f2],
  ['F3', async () => (await import('./api/f3-batches.ts')).f3],
  ['F4', async () => (await import('./api/f4-limiter.ts')).f4],
  ['F5', async () => (await import('./api/f5-dependence.ts')).f5],
  ['S1', async () => (await import('./resources/s1-soak.ts')).s1],
  ['S2', async () => (await import('./resources/s2-bodies.ts')).s2],
  ['S3', async () => (await import('./resources/s3-slowloris.ts')).s3],
  ['X1', async () => (await import('./security/x1-control-guards.ts')).x1],
  ['X2', async () => (await import('./security/x2-cors.ts')).x2],
  ['X3', async () => (await import('./security/x3-targets.ts')).x3],
  ['X4', async () => (await import('./security/x4-names.ts')).x4],
  ['X5', async () => (await import('./security/x5-displayed.ts')).x5],
  ['X6', async () => (await import('./security/x6-canaries.ts')).x6],
])
