import type { Service } from '../service.ts'
import type { Preset } from './preset.ts'
import type { FaultDraft, FaultMatch, FaultRule } from './rule.ts'

/** What a rule does, without its name and where it came from. */
export type Behaviour = Pick<
  FaultRule,
  'match' | 'when' | 'do' | 'actions' | 'priority' | 'then' | 'times' | 'ttl'
>

/** A draft with what its preset says beneath it. Without a match of either, it matches nothing yet. */
export interface Expanded extends Omit<Behaviour, 'match'> {
  readonly match: FaultMatch | 'everything' | undefined
}

/** Puts a draft over its preset: what the draft says takes precedence, in the match field by field. */
export function expand(draft: FaultDraft, { presets }: Pick<Service, 'presets'>): Expanded {
  const preset = draft.preset === undefined ? undefined : presets.get(draft.preset)
  return {
    match: matchOf(draft, preset),
    when: draft.when ?? preset?.when ?? {},
    do: draft.do ?? preset?.do ?? [],
    actions: draft.actions ?? preset?.actions ?? {},
    priority: draft.priority ?? 0,
    then: draft.then ?? preset?.then ?? 'stop',
    // A draft that says when it fires says so for as long as it stands.
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
