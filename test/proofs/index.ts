import type { Proof } from './proof.ts'

export const proofs: ReadonlyMap<string, () => Promise<Proof>> = new Map([
  ['D1', async () => (await import('./durability/acknowledged-writes.ts')).d1],
  ['D5', async () => (await import('./durability/edits.ts')).d5],
  ['D7', async () => (await import('./durability/signals.ts')).d7],
  ['D8', async () => (await import('./durability/one-writer.ts')).d8],
  ['F1', async () => (await import('./api/requests.ts')).f1],
  ['F2', async () => (await import('./api/wire.ts')).f2],
  ['F3', async () => (await import('./api/batches.ts')).f3],
  ['F5', async () => (await import('./api/no-dependence.ts')).f5],
  ['F6', async () => (await import('./resources/advance.ts')).f6],
  ['F8', async () => (await import('./api/express.ts')).f8],
  ['S1', async () => (await import('./resources/soak.ts')).s1],
  ['T1', async () => (await import('./time/bounded-work.ts')).t1],
  ['X4', async () => (await import('./security/names.ts')).x4],
  ['X5', async () => (await import('./security/displayed.ts')).x5],
  ['X6', async () => (await import('./security/canaries.ts')).x6],
])
