import type { MagicValue } from '../../../core/faults/preset.ts'
import type { FaultDraft } from '../../../core/faults/rule.ts'
import type { FaultView, PresetView, RemovedFaults } from '../routes/faults.ts'
import { type Ask, entriesOf } from './ask.ts'
import { isGone, isOver } from './emulator-error.ts'

/** Fields of a rule that are to be different, as a merge patch (RFC 7396): null removes one. */
export type FaultPatch = {
  readonly [Field in Exclude<keyof FaultDraft, 'id' | 'preset'>]?: FaultDraft[Field] | null
}

/** The fault rules of a sandbox. */
export type SandboxFaults = ReturnType<typeof faultsOver>

/** A rule that is armed. Disposing of it removes it. */
export type ArmedFault = ReturnType<typeof armedFault>

export function faultsOver(ask: Ask) {
  const all = async (body: FaultDraft | readonly FaultDraft[]): Promise<ArmedFault[]> => {
    const armed = await ask('POST /faults', { body })
    return ('data' in armed ? armed.data : [armed]).map((rule) => armedFault(ask, rule))
  }
  // One draft, one rule.
  const one = async (draft: FaultDraft): Promise<ArmedFault> => (await all(draft))[0] as ArmedFault
  return {
    /**
     * Arms a rule: a composition of your own, or a preset and what is to be different about it.
     * @example
     * await using fault = await sandbox.faults.arm({ match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] })
     */
    arm: (draft: FaultDraft): Promise<ArmedFault> => one(draft),
    /** Arms several rules, all of them or none. */
    armAll: (drafts: readonly FaultDraft[]): Promise<readonly ArmedFault[]> => all(drafts),
    /** Arms a preset by its name. @param rest what is to be different about it */
    preset: (name: string, rest: Omit<FaultDraft, 'preset'> = {}): Promise<ArmedFault> =>
      one({ ...rest, preset: name }),
    /** A rule that is armed already, by any client. */
    get: async (id: string): Promise<ArmedFault> =>
      armedFault(ask, await ask('GET /faults/{id}', { params: { id } })),
    list: (): Promise<readonly FaultView[]> => entriesOf(ask('GET /faults')),
    presets: (): Promise<readonly PresetView[]> => entriesOf(ask('GET /faults/presets')),
    /** The values that requests can carry instead of a rule. */
    magicValues: async (): Promise<readonly Omit<MagicValue, 'actionsOf'>[]> =>
      (await ask('GET /faults/presets')).magic_values,
    showPreset: (name: string): Promise<PresetView> =>
      ask('GET /faults/presets/{name}', { params: { name } }),
    /** Removes every rule, and lets go of the connections that they hold. */
    clear: (): Promise<RemovedFaults> => ask('DELETE /faults'),
  }
}

export function armedFault(ask: Ask, rule: FaultView) {
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
    /** The rule at the time when this object was made; `show` reads it again. */
    rule,
    /** The rule and what it has counted by now. */
    show: (): Promise<FaultView> => ask('GET /faults/{id}', { params }),
    /** Changes fields of the rule; its counters go on. */
    change: (patch: FaultPatch): Promise<FaultView> =>
      ask('PATCH /faults/{id}', { params, body: { ...patch } }),
    /** Begins again: its counters at 0, its time to live from now on. */
    reset: (): Promise<FaultView> => ask('POST /faults/{id}/reset', { params }),
    /** Removes the rule and lets go of the connections that it holds. One that is gone is fine. */
    remove,
    // An emulator that is closed has no rules any more, and what disposes must not hide the error that a test ends with.
    [Symbol.asyncDispose]: (): Promise<void> =>
      remove().catch((error: unknown) => {
        if (!isOver(error)) throw error
      }),
  }
}
