import { batchEmulator, createBatch } from './batches.ts'
import { arm } from './state-faults.ts'

/** A sandbox with one batch of three items, and an armed rule if it is given. */
export async function batchUnder(rule?: object) {
  const emulator = await batchEmulator()
  const { id } = (await createBatch(emulator)) as { readonly id: string }
  if (rule !== undefined) await arm(emulator, rule)
  return { emulator, id }
}
