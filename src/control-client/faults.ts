import type { MagicValue } from '../core/faults/preset.ts'
import type { FaultDraft } from '../core/faults/rule.ts'
import type { FaultView, PresetView, RemovedFaults } from '../server/control/routes/faults.ts'
import { type CallControl, dataOf } from './ask.ts'
import { EmulatorError } from './emulator-error.ts'

/** Changes of the fields of a rule, as a merge patch (RFC 7396): null removes a field. */
export type FaultPatch = {
  readonly [Field in Exclude<keyof FaultDraft, 'id' | 'preset'>]?: FaultDraft[Field] | null
}

/** The fault rules of a sandbox. */
export type SandboxFaults = ReturnType<typeof faultsOver>

/** A rule that is armed. Disposing of it removes it. */
export type ArmedFault = ReturnType<typeof armedFault>

export function faultsOver(ask: CallControl) {
  const all = async (body: FaultDraft | readonly FaultDraft[]): Promise<ArmedFault[]> => {
    const armed = await ask('POST /faults', { body })
    return ('data' in armed ? armed.data : [armed]).map((rule) => armedFault(ask, rule))
  }
  // One draft creates one rule.
  const one = async (draft: FaultDraft): Promise<ArmedFault> => (await all(draft))[0] as ArmedFault
  return {
    /**
     * Arms a rule: your own composition, or a preset with changed fields.
     * @example
     * await using fault = await sandbox.faults.arm({ match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] })
     */
    arm: (draft: FaultDraft): Promise<ArmedFault> => one(draft),
    /** Arms several rules, all of them or none. */
    armAll: (drafts: readonly FaultDraft[]): Promise<readonly ArmedFault[]> => all(drafts),
    /** Arms a preset by its name. @param rest fields that replace those of the preset */
    preset: (name: string, rest: Omit<FaultDraft, 'preset'> = {}): Promise<ArmedFault> =>
      one({ ...rest, preset: name }),
    /** A rule that is armed already, by any client. */
    get: async (id: string): Promise<ArmedFault> =>
      armedFault(ask, await ask('GET /faults/{id}', { params: { id } })),
    list: (): Promise<readonly FaultView[]> => dataOf(ask('GET /faults')),
    presets: (): Promise<readonly PresetView[]> => dataOf(ask('GET /fault-presets')),
    /** The values in requests that cause a fault without a rule. */
    magicValues: async (): Promise<readonly Omit<MagicValue, 'actionsOf'>[]> =>
      (await ask('GET /fault-presets')).magic_values,
    showPreset: (name: string): Promise<PresetView> => ask('GET /fault-presets/{name}', { params: { name } }),
    /** Removes every rule, and releases the connections that they hold. */
    clear: (): Promise<RemovedFaults> => ask('DELETE /faults'),
  }
}

function armedFault(ask: CallControl, rule: FaultView) {
  const { id } = rule
  const params = { id }
  const remove = async (): Promise<void> => {
    try {
      await ask('DELETE /faults/{id}', { params })
    } catch (error) {
      if (!(error instanceof EmulatorError && error.status === 404)) throw error
    }
  }
  return {
    id,
    /** The rule at the time when this object was created; `show` reads it again. */
    rule,
    /** The rule with its present counters. */
    show: (): Promise<FaultView> => ask('GET /faults/{id}', { params }),
    /** Changes fields of the rule; its counters keep their values. */
    change: (patch: FaultPatch): Promise<FaultView> =>
      ask('PATCH /faults/{id}', { params, body: { ...patch } }),
    /** Resets the rule: its counters are 0, and its time to live starts now. */
    reset: (): Promise<FaultView> => ask('POST /faults/{id}/reset', { params }),
    /** Removes the rule and releases the connections that it holds. Does nothing if the rule does not exist any more. */
    remove,
    // A closed emulator has no rules any more, and an error of the disposal must not hide the error of a test.
    [Symbol.asyncDispose]: (): Promise<void> =>
      remove().catch((error: unknown) => {
        if (!(error instanceof EmulatorError && ['closed', 'no_answer'].includes(error.code))) throw error
      }),
  }
}
