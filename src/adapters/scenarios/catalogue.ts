import type { ScenarioEntry } from '../../core/scenarios/source.ts'
import type { ScriptGeneration } from './generation.ts'
import type { Candidate } from './load.ts'
import type { ScenarioVersion } from './schema.ts'

/** A scenario in force and the scripts that its functions are in. */
export interface Version {
  readonly scenario: ScenarioVersion
  readonly scripts: ScriptGeneration
}

/** The result of one swap. */
export interface Swap {
  /** The number of swaps so far that have changed something. */
  readonly generation: number
  /** False when the swap has brought only problems: the versions in force are the same as before. */
  readonly changed: boolean
  /** The files whose problems are new. */
  readonly broken: readonly ScenarioEntry[]
}

/** The scenarios in force: the last valid version of each. */
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

  // Ends the processes of scripts without a function that can be called: they only use memory.
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

/** Whether a scenario has functions. */
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
