import type { Service } from '../service.ts'
import type { Preset } from './preset.ts'
import type { FaultDraft, FaultMatch, FaultRule } from './rule.ts'

/** A draft completed with its preset. `match` is undefined when neither of them has one. */
export interface Expanded
  extends Pick<FaultRule, 'when' | 'do' | 'actions' | 'priority' | 'then' | 'times' | 'ttl'> {
  readonly match: FaultMatch | 'everything' | undefined
}

/** Completes a draft with its preset. Fields of the draft override those of the preset; `match` is merged field by field. */
export function expand(draft: FaultDraft, { presets }: Pick<Service, 'presets'>): Expanded {
  const preset = draft.preset === undefined ? undefined : presets.get(draft.preset)
  return {
    match: matchOf(draft, preset),
    when: draft.when ?? preset?.when ?? {},
    do: draft.do ?? preset?.do ?? [],
    actions: draft.actions ?? preset?.actions ?? {},
    priority: draft.priority ?? 0,
    then: draft.then ?? preset?.then ?? 'stop',
    // A draft with its own `when` does not inherit `times` from its preset.
    times: draft.times ?? (draft.when === undefined ? preset?.times : undefined) ?? null,
    ttl: draft.ttl ?? null,
  }
}

function matchOf(draft: FaultDraft, preset: Preset | undefined): FaultMatch | 'everything' | undefined {
  const { match } = draft
  if (match === undefined) return preset?.match
  if (match === 'everything' || preset === undefined || preset.match === 'everything') return match
  return { ...preset.match, ...match }
}
