import { readFile } from 'node:fs/promises'
import type { FunctionRef } from '../../core/scenarios/row.ts'
import type {
  ScenarioCommand,
  ScenarioEntry,
  ScenarioSnapshot,
  ScenarioSource,
} from '../../core/scenarios/source.ts'
import { hasFunctions, type Version } from './catalogue.ts'
import { readFolder, scenarioName } from './folder.ts'
import { SCRIPT_LIMITS, ScriptGeneration } from './generation.ts'
import type { LibraryOptions } from './library.ts'
import { loadScenarios } from './load.ts'
import { problemLine } from './problem.ts'
import { scenarioSchema } from './schema.ts'

/**
 * The scenarios of a project, and the built-in ones of the package whose names the project does not use. Built-in ones are
 * listed by name and description; their scripts run only when they are first used.
 */
export class ScenariosWithBuiltIn implements ScenarioSource {
  readonly #own: ScenarioSource
  readonly #folder: string
  readonly #options: LibraryOptions
  readonly #loading = new Map<string, Promise<void>>()
  readonly #versions = new Map<string, Version>()
  #entries: Map<string, ScenarioEntry> | undefined

  /** @param folder of the scenarios of the package; they do not change while the emulator runs */
  constructor(own: ScenarioSource, folder: string, options: LibraryOptions) {
    this.#own = own
    this.#folder = folder
    this.#options = options
  }

  async load(name?: string): Promise<void> {
    await this.#own.load?.()
    this.#entries ??= new Map((await builtInScenarios(this.#folder)).map((entry) => [entry.name, entry]))
    const entry = name === undefined || this.#isOwn(name) ? undefined : this.#entries.get(name)
    if (entry === undefined) return
    const loading = this.#loading.get(entry.name) ?? this.#loadBuiltIn(entry)
    this.#loading.set(entry.name, loading)
    await loading
  }

  list(): readonly ScenarioEntry[] {
    const builtIn = this.#entries ?? new Map<string, ScenarioEntry>()
    // In a checkout of this package the folder of the project is that of the built-in ones.
    const own = this.#own.list().map((entry) => {
      const isSame = builtIn.get(entry.name)?.file === entry.file
      return isSame ? { ...entry, origin: 'built-in' as const } : entry
    })
    const others = [...builtIn.values()].filter(({ name }) => !this.#isOwn(name))
    return [...own, ...others].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  get(name: string) {
    return this.#isOwn(name) ? this.#own.get(name) : this.#versions.get(name)?.scenario
  }

  async call(
    name: string,
    ref: FunctionRef,
    snapshot: ScenarioSnapshot,
  ): Promise<readonly ScenarioCommand[]> {
    await this.load(name)
    const version = this.#isOwn(name) ? undefined : this.#versions.get(name)
    if (version === undefined) return this.#own.call(name, ref, snapshot)
    return version.scripts.call(version.scenario.file, ref, snapshot)
  }

  async refresh(): Promise<void> {
    await this.#own.refresh?.()
  }

  onChange(listener: () => void): () => void {
    return this.#own.onChange(listener)
  }

  /** Ends the scripts of the package. The owner of the project's scripts closes those. */
  async close(): Promise<void> {
    await Promise.all([...this.#versions.values()].map(({ scripts }) => scripts.close()))
  }

  // A broken file of the project also hides the built-in scenario of its name: otherwise its mistake would go unnoticed.
  #isOwn(name: string): boolean {
    return this.#own.list().some((entry) => entry.name === name)
  }

  async #loadBuiltIn(entry: ScenarioEntry): Promise<void> {
    const { name, file } = entry
    const { vocabulary, limits, later, onNotice } = this.#options
    const scripts = new ScriptGeneration({
      folder: this.#folder,
      limits: { ...SCRIPT_LIMITS, ...limits },
      later,
      print: async () => '',
      onLine: (message) => onNotice?.({ level: 'info', event: 'scenario_output', message }),
      onLeftover: (problem) =>
        onNotice?.({ level: 'warn', event: 'scenario_failed', message: problemLine(problem), file }),
    })
    const [read] = await loadScenarios([file], scripts, scenarioSchema(vocabulary))
    const { data, problems = [] } = read ?? {}
    this.#entries?.set(name, { ...entry, valid: data !== undefined, problems })
    const scenario = data && { ...data, name, file, generation: FIRST }
    if (scenario !== undefined) this.#versions.set(name, { scenario, scripts })
    // The cause may be temporary, such as a lack of memory: the next call tries again.
    else this.#loading.delete(name)
    if (scenario === undefined || !hasFunctions(scenario)) await scripts.close()
  }
}

const FIRST = 1

/** The scenarios of the package. Their files are read, but no script is run. */
export async function builtInScenarios(folder: string): Promise<ScenarioEntry[]> {
  const { files } = await readFolder(folder)
  return Promise.all(
    files.map(async (file) => ({
      name: scenarioName(file),
      origin: 'built-in' as const,
      description: /description:\s*'([^']+)'/.exec(await readFile(file, 'utf8'))?.[1] ?? null,
      file,
      valid: true,
      generation: FIRST,
      problems: [],
    })),
  )
}
