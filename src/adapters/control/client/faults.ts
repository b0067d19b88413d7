import type { FaultDraft } from '../../../core/faults/rule.ts'
import { type ArmedFault, armedFault } from './armed-fault.ts'
import type { Ask } from './ask.ts'
import type { FaultList, FaultView, PresetList, PresetView, RemovedFaults } from './views/faults.ts'

/** The fault rules of a sandbox. */
export interface SandboxFaults {
  /**
   * Arms a rule: a composition of your own, or a preset and what is to be different about it.
   * @example
   * await using fault = await sandbox.faults.arm({ match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] })
   */
  arm(draft: FaultDraft): Promise<ArmedFault>
  /** Arms several rules, all of them or none. */
  armAll(drafts: readonly FaultDraft[]): Promise<readonly ArmedFault[]>
  /** Arms a preset by its name. @param rest what is to be different about it */
  preset(name: string, rest?: Omit<FaultDraft, 'preset'>): Promise<ArmedFault>
  /** A rule that is armed already, by any client. */
  get(id: string): Promise<ArmedFault>
  list(): Promise<FaultList>
  presets(): Promise<PresetList>
  showPreset(name: string): Promise<PresetView>
  /** Removes every rule, and lets go of the connections that they hold. */
  clear(): Promise<RemovedFaults>
}

export function faultsOver(ask: Ask): SandboxFaults {
  const armAll = async (body: FaultDraft | readonly FaultDraft[]): Promise<FaultView[]> => {
    const armed = await ask('POST /faults', { body })
    return 'data' in armed ? armed.data : [armed]
  }
  const arm = async (draft: FaultDraft): Promise<ArmedFault> => {
    const [rule] = await armAll(draft)
    return armedFault(ask, rule as FaultView) // one draft, one rule
  }
  return {
    arm,
    armAll: async (drafts) => (await armAll(drafts)).map((rule) => armedFault(ask, rule)),
    preset: (name, rest = {}) => arm({ ...rest, preset: name }),
    get: async (id) => armedFault(ask, await ask('GET /faults/{id}', { params: { id } })),
    list: () => ask('GET /faults'),
    presets: () => ask('GET /faults/presets'),
    showPreset: (name) => ask('GET /faults/presets/{name}', { params: { name } }),
    clear: () => ask('DELETE /faults'),
  }
}
