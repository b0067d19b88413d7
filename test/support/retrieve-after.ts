import { retrieve } from './batches.ts'
import type { TestEmulator } from './emulator.ts'

/** Advances the clock by each of these durations. @returns the batch as retrieve shows it after each */
export async function retrieveAfter(emulator: TestEmulator, id: string, ...durations: readonly string[]) {
  const seen: Awaited<ReturnType<typeof retrieve>>[] = []
  for (const by of durations) {
    emulator.advance(by)
    seen.push(await retrieve(emulator, id))
  }
  return seen
}
