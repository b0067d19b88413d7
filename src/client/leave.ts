import type { EmulatorError } from './emulator-error.ts'

/** Statuses that mean that there is nothing to remove: no emulator, no sandbox, or an emulator that is closing. */
const NOTHING_LEFT = [0, 404, 409]

/** Removes a sandbox; it also resolves if that is already removed, or the emulator is closed. */
export async function leave(remove: () => Promise<void>): Promise<void> {
  try {
    await remove()
  } catch (error) {
    if (!NOTHING_LEFT.includes((error as EmulatorError).status)) throw error
  }
}
