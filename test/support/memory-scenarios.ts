import type { FunctionRef } from '../../src/core/scenarios/row.ts'
import type {
  ScenarioCommand,
  ScenarioDefinition,
  ScenarioEntry,
  ScenarioSnapshot,
  ScenarioSource,
  ScriptProblem,
} from '../../src/core/scenarios/source.ts'

type ScenarioFunction = (
  snapshot: ScenarioSnapshot,
) => readonly ScenarioCommand[] | Promise<readonly ScenarioCommand[]>

/** A scenario as tests write it: like a script, but its functions return the commands. */
export interface TestScenario extends Partial<Omit<ScenarioDefinition, 'timeline' | 'on' | 'name' | 'file'>> {
  readonly description?: string
  readonly pace?: unknown
  readonly outcomes?: unknown
  readonly timeline?: readonly { readonly at: string; readonly do: ScenarioFunction | readonly object[] }[]
  readonly on?: Readonly<Record<string, ScenarioFunction>>
}

/** Scenarios without files; changes apply at once. */
export class MemoryScenarios implements ScenarioSource {
  #scenarios: ReadonlyMap<string, TestScenario>
  readonly #broken = new Map<string, ScriptProblem>()
  readonly #listeners = new Set<() => void>()
  #generation = 1

  constructor(scenarios: Readonly<Record<string, TestScenario>> = {}) {
    this.#scenarios = new Map(Object.entries(scenarios))
  }

  /** Replaces all scenarios with a new generation. */
  swap(scenarios: Readonly<Record<string, TestScenario>>): void {
    this.#scenarios = new Map(Object.entries(scenarios))
    this.#broken.clear()
    this.#generation += 1
    for (const listener of this.#listeners) listener()
  }

  /** Reports a problem in a script; the last valid version stays in use. */
  spoil(name: string, message: string): void {
    this.#broken.set(name, { file: fileOf(name), line: 3, message })
  }

  list(): readonly ScenarioEntry[] {
    const names = [...new Set([...this.#scenarios.keys(), ...this.#broken.keys()])].sort()
    return names.map((name) => {
      const problem = this.#broken.get(name)
      const scenario = this.#scenarios.get(name)
      return {
        ...{ name, origin: 'project', file: fileOf(name), valid: problem === undefined },
        description: scenario?.description ?? null,
        problems: problem === undefined ? [] : [problem],
        generation: scenario === undefined ? null : this.#generation,
      }
    })
  }

  get(name: string): ScenarioDefinition | undefined {
    const scenario = this.#scenarios.get(name)
    if (scenario === undefined) return undefined
    const { timeline = [], on = {} } = scenario
    return {
      faults: [],
      stubs: [],
      ...scenario,
      name,
      file: fileOf(name),
      generation: this.#generation,
      timeline: timeline.map((step) => ({
        ...step,
        do: typeof step.do === 'function' ? 'function' : step.do,
      })),
      on: Object.keys(on),
    }
  }

  async call(name: string, ref: FunctionRef, snapshot: ScenarioSnapshot) {
    const { timeline = [], on = {} } = this.#scenarios.get(name) ?? {}
    const found = 'timeline' in ref ? timeline[ref.timeline]?.do : on[ref.on]
    if (typeof found !== 'function') throw new Error(`${fileOf(name)}: has no such function`)
    return found(snapshot)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

function fileOf(name: string): string {
  return `/scenarios/${name}.ts`
}
