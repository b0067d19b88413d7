import type { ScenarioEntry } from '../../kernel/scenario/source.ts'
import { counted } from '../../kernel/words.ts'
import { problemLine } from './problem.ts'

/** What the scenarios folder has to say to the owner of the emulator. */
export interface ScenarioNotice {
  readonly level: 'info' | 'warn'
  readonly event:
    | 'scenarios_loaded'
    | 'scenario_broken'
    | 'scenario_output'
    | 'scenario_failed'
    | 'scenarios_unwatched'
  /** Everything there is to say: what, where, why, and the way out. */
  readonly message: string
  readonly file?: string
  /** Counted from 1. */
  readonly line?: number
}

export type OnScenarioNotice = (notice: ScenarioNotice) => void

/** So many problems of one file are told in one notice. */
const TOLD = 5

/** What a swap says: that it has been, and every file whose problems are new. */
export function noticesOf(
  swap: { readonly generation: number; readonly changed: boolean; readonly broken: readonly ScenarioEntry[] },
  entries: readonly ScenarioEntry[],
): ScenarioNotice[] {
  const valid = entries.filter((entry) => entry.valid).length
  const loaded: ScenarioNotice = {
    level: 'info',
    event: 'scenarios_loaded',
    message: `${counted(valid, 'scenario')} loaded (generation ${swap.generation})`,
  }
  // That a start has loaded everything is what anybody expects.
  const isNews = swap.changed && swap.generation > 1
  return [...(isNews ? [loaded] : []), ...swap.broken.map(broken)]
}

function broken({ file, generation, problems }: ScenarioEntry): ScenarioNotice {
  const line = problems[0]?.line
  const told = problems.slice(0, TOLD).map(problemLine)
  const more = problems.length > TOLD ? [`and ${problems.length - TOLD} more`] : []
  const inForce =
    generation === null
      ? 'It is not loaded.'
      : `What was valid last (generation ${generation}) stays in force.`
  return {
    level: 'warn',
    event: 'scenario_broken',
    message: `${[...told, ...more].join('; ')}. ${inForce}`,
    file,
    ...(line === undefined ? {} : { line }),
  }
}
