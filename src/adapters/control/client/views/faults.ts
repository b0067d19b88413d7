import type { MagicValue, Preset } from '../../../../core/faults/preset.ts'
import type { FaultDraft, FaultRule } from '../../../../core/faults/rule.ts'
import type { Standing } from '../../../../core/faults/standing.ts'
import type { List } from './list.ts'

/** A fault rule, and what it has counted so far. */
export type FaultView = FaultRule & Standing

/** Fault rules in the order in which they are asked. */
export interface FaultList extends List<FaultView> {
  /** Ids of those that have not fired yet. */
  readonly never_fired: readonly string[]
}

/** What was removed. */
export interface RemovedFaults {
  readonly removed: readonly string[]
  /** Those of them that had never fired. */
  readonly never_fired: readonly string[]
}

/** A preset: what it is made of, and what arms it. */
export type PresetView = Preset & { readonly example: { readonly preset: string } }

/** Presets, and the values that requests can carry instead of a rule. */
export interface PresetList extends List<PresetView> {
  readonly magic_values: readonly Omit<MagicValue, 'actionsOf'>[]
}

/** Members of a rule that are to be different, as a merge patch (RFC 7396): null takes one away. */
export type FaultPatch = {
  readonly [Member in Exclude<keyof FaultDraft, 'id' | 'preset'>]?: FaultDraft[Member] | null
}
