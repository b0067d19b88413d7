import { readFile } from 'node:fs/promises'
import type { CallFunction, ScenarioEntry, ScenarioSource } from '../../core/scenarios/source.ts'
import { readFolder, scenarioName } from './folder.ts'
import { type Candidate, callFunction, loadScenarios } from './load.ts'
import { type ScenarioVocabulary, scenarioSchema } from './schema.ts'

/**
 * The scenarios of a project, and the built-in ones of the package whose names the project does not use. Built-in ones are
 * listed by name and description; their scripts run only when they are first used.
 */
export class ScenariosWithBuiltIn implements ScenarioSource {
  readonly #own: ScenarioSource
  readonly #folder: string
  readonly #vocabulary: ScenarioVocabulary
  readonly #loaded = new Map<string, Candidate>()
  #entries: Map<string, ScenarioEntry> | undefined

  /** @param folder of the scenarios of the package; they do not change while the emulator runs */
  constructor(own: ScenarioSource, folder: string, vocabulary: ScenarioVocabulary) {
    this.#own = own
    this.#folder = folder
    this.#vocabulary = vocabulary
  }

  async load(name?: string): Promise<void> {
    await this.#own.load?.()
    this.#entries ??= new Map((await builtInScenarios(this.#folder)).map((entry) => [entry.name, entry]))
    const entry = name === undefined || this.#isOwn(name) ? undefined : this.#entries.get(name)
    if (entry === undefined || this.#loaded.has(entry.name)) return
    const [read] = await loadScenarios([entry.file], scenarioSchema(this.#vocabulary))
    const { data, problems = [] } = read ?? {}
    this.#entries.set(entry.name, { ...entry, valid: data !== undefined, problems })
    // One with a problem is tried again the next time: the cause may be temporary, such as a lack of file handles.
    if (read !== undefined && data !== undefined) this.#loaded.set(entry.name, read)
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
    if (this.#isOwn(name)) return this.#own.get(name)
    const { file = '', data } = this.#loaded.get(name) ?? {}
    return data && { ...data, name, file, generation: FIRST }
  }

  readonly call: CallFunction = async (name, ref, snapshot) => {
    await this.load(name)
    const builtIn = this.#isOwn(name) ? undefined : this.#loaded.get(name)
    return builtIn === undefined ? this.#own.call(name, ref, snapshot) : callFunction(builtIn, ref, snapshot)
  }

  async refresh(): Promise<void> {
    await this.#own.refresh?.()
  }

  onChange(listener: () => void): () => void {
    return this.#own.onChange(listener)
  }

  // A broken file of the project also hides the built-in scenario of its name: otherwise its mistake would go unnoticed.
  #isOwn(name: string): boolean {
    return this.#own.list().some((entry) => entry.name === name)
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
