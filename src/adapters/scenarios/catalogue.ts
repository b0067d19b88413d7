import type { ScenarioEntry } from '../../core/scenarios/source.ts'
import type { ScriptGeneration } from './generation.ts'
import type { Candidate } from './load.ts'
import type { ScenarioVersion } from './schema.ts'

/** A scenario in force and the scripts that its functions are in. */
export interface Version {
  readonly scenario: ScenarioVersion
  readonly scripts: ScriptGeneration
}

/** What one swap has brought. */
export interface Swap {
  /** Number of the swaps so far that have changed something. */
  readonly generation: number
  /** False when nothing but problems has come: what was in force is in force still. */
  readonly changed: boolean
  /** The files whose problems are new. */
  readonly broken: readonly ScenarioEntry[]
}

/** The scenarios in force: of each the last version that was valid. */
export class ScenarioCatalogue {
  #generation = 0
  #versions = new Map<string, Version>()
  #entries: readonly ScenarioEntry[] = []
  readonly #retiring = new Set<ScriptGeneration>()

  get generation(): number {
    return this.#generation
  }

  list(): readonly ScenarioEntry[] {
    return this.#entries
  }

  get(name: string): Version | undefined {
    return this.#versions.get(name)
  }

  /** Puts all candidates into force at once. One with problems keeps its last valid version; one without a file is removed. */
  swap(candidates: readonly Candidate[], scripts: ScriptGeneration): Swap {
    const before = this.#versions
    const names = new Set(candidates.map(({ name }) => name))
    const gone = [...before.keys()].some((name) => !names.has(name))
    const changed = gone || candidates.some(({ data }) => data !== undefined)
    if (changed) this.#generation += 1
    const after = new Map([...before].filter(([name]) => names.has(name)))
    for (const { name, file, data } of candidates) {
      if (data === undefined) continue
      after.set(name, { scenario: { ...data, name, file, generation: this.#generation }, scripts })
    }
    this.#versions = after
    const known = new Set(this.#entries.map(({ file, problems }) => JSON.stringify([file, problems])))
    this.#entries = candidates
      .map((candidate) => entryOf(candidate, after.get(candidate.name)?.scenario))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    this.#retire([...[...before.values()].map((version) => version.scripts), scripts])
    const broken = this.#entries.filter(
      ({ file, valid, problems }) => !valid && !known.has(JSON.stringify([file, problems])),
    )
    return { generation: this.#generation, changed, broken }
  }

  /** Ends every script. */
  async close(): Promise<void> {
    const inForce = [...this.#versions.values()].map(({ scripts }) => scripts)
    await Promise.all([...inForce, ...this.#retiring].map((scripts) => scripts.close()))
  }

  // A process is worth its memory only as long as something in it can be called.
  #retire(all: readonly ScriptGeneration[]): void {
    const needed = new Set(
      [...this.#versions.values()]
        .filter(({ scenario }) => hasFunctions(scenario))
        .map(({ scripts }) => scripts),
    )
    for (const scripts of new Set(all)) {
      if (needed.has(scripts) || this.#retiring.has(scripts)) continue
      this.#retiring.add(scripts)
      void scripts.retire().finally(() => this.#retiring.delete(scripts))
    }
  }
}

/** Whether a scenario has anything to call. */
export function hasFunctions({ timeline, on }: ScenarioVersion): boolean {
  return on.length > 0 || timeline.some((step) => step.do === 'function')
}

function entryOf(
  { name, file, data, problems }: Candidate,
  inForce: ScenarioVersion | undefined,
): ScenarioEntry {
  return {
    name,
    origin: 'project',
    file,
    generation: inForce?.generation ?? null,
    valid: data !== undefined,
    description: inForce?.description ?? null,
    problems,
  }
}
