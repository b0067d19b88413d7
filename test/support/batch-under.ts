import { batchEmulator, createBatch } from './batches.ts'
import { arm } from './state-faults.ts'

/** A sandbox with one batch, of three items by default, and an armed rule if it is given. */
export async function batchUnder(rule?: object, batch: Parameters<typeof createBatch>[1] = {}) {
  const emulator = await batchEmulator()
  const { id } = (await createBatch(emulator, batch)) as { readonly id: string }
  if (rule !== undefined) await arm(emulator, rule)
  return { emulator, id }
}
