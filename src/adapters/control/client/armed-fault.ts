import type { Ask } from './ask.ts'
import { isGone, isOver } from './emulator-error.ts'
import type { FaultPatch, FaultView } from './views/faults.ts'

/** A rule that is armed. Disposing of it removes it. */
export interface ArmedFault extends AsyncDisposable {
  readonly id: string
  /** As it was when this object was made; {@link show} asks anew. */
  readonly rule: FaultView
  /** The rule and what it has counted by now. */
  show(): Promise<FaultView>
  /** Changes members of the rule; its counters go on. */
  change(patch: FaultPatch): Promise<FaultView>
  /** Begins again: its counters at 0, its time to live from now on. */
  reset(): Promise<FaultView>
  /** Removes the rule and lets go of the connections that it holds. One that is gone is fine. */
  remove(): Promise<void>
}

export function armedFault(ask: Ask, rule: FaultView): ArmedFault {
  const { id } = rule
  const params = { id }
  const remove = async (): Promise<void> => {
    try {
      await ask('DELETE /faults/{id}', { params })
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
  return {
    id,
    rule,
    show: () => ask('GET /faults/{id}', { params }),
    change: (patch) => ask('PATCH /faults/{id}', { params, body: { ...patch } }),
    reset: () => ask('POST /faults/{id}/reset', { params }),
    remove,
    // An emulator that is closed has no rules any more, and what disposes must not hide the error that a test ends with.
    [Symbol.asyncDispose]: () =>
      remove().catch((error: unknown) => {
        if (!isOver(error)) throw error
      }),
  }
}
