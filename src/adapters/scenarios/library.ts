import { didYouMean } from '../../core/did-you-mean.ts'
import type { CallFunction, ScenarioEntry, ScenarioSource } from '../../core/scenarios/source.ts'
import { textsIn } from './folder.ts'
import { type Candidate, callFunction, loadScenarios } from './load.ts'
import { noticesOf, type OnScenarioNotice, ScenarioError } from './problem.ts'
import { type ScenarioData, type ScenarioVersion, type ScenarioVocabulary, scenarioSchema } from './schema.ts'
import { ScriptFolder } from './script-folder.ts'

export interface LibraryOptions {
  readonly vocabulary: ScenarioVocabulary
  readonly onNotice?: OnScenarioNotice
  /** Real milliseconds that a function may run; for tests. */
  readonly callMs?: number
}

/** A scenario in force and what it was read from. */
interface Version {
  readonly scenario: ScenarioVersion
  readonly candidate: Candidate
}

/** The scenarios of a folder. A broken file keeps its last valid version in force. All are swapped together. */
export class ScenarioLibrary implements ScenarioSource {
  readonly #options: LibraryOptions
  readonly #listeners = new Set<() => void>()
  readonly #folder: ScriptFolder<Candidate>
  #generation = 0
  /** The last valid version of each scenario. */
  #versions = new Map<string, Version>()
  #entries: readonly ScenarioEntry[] = []

  /** @param folder may be missing; nothing is read before {@link load} */
  constructor(folder: string, options: LibraryOptions) {
    this.#options = options
    this.#folder = new ScriptFolder(folder, {
      read: (files, unchanged) => loadScenarios(files, scenarioSchema(options.vocabulary), unchanged),
      swap: (candidates) => this.#swap(candidates),
      failed: this.#failed,
    })
  }

  /** Loads the folder and watches it. Resolves after the first load. */
  load(): Promise<void> {
    return this.#folder.load()
  }

  /** Loads changes at once, without waiting for the watch. */
  refresh(): Promise<void> {
    return this.#folder.refresh()
  }

  /** Stops watching. A load in progress has no effect any more. */
  close(): Promise<void> {
    return this.#folder.close()
  }

  /** Every file of the folder with the name of a scenario, valid or not, in order of the names. */
  list(): readonly ScenarioEntry[] {
    return this.#entries
  }

  /** The version in force: the last that was valid. */
  get(name: string): ScenarioVersion | undefined {
    return this.#versions.get(name)?.scenario
  }

  /** The texts of the scenarios with these names, and of the files in the folder that they import, by their paths in it. */
  async textsOf(names: ReadonlySet<string>): Promise<Readonly<Record<string, string>>> {
    await this.load()
    const used = this.#folder.files.filter(({ name }) => names.has(name)).flatMap(({ files }) => [...files])
    return textsIn(this.#folder.path, new Set(used))
  }

  /** Calls the listener after every swap, also after one that has brought only problems. @returns removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Calls a function of a scenario in force. Resolves with its commands, which are not applied yet. Rejects with a
   * {@link ScenarioError} when the function throws, exceeds its time limit or does not exist.
   */
  readonly call: CallFunction = async (name, ref, snapshot) => {
    const version = this.#versions.get(name)
    if (version === undefined) {
      const known = this.list().map((entry) => entry.name)
      const message = `has no valid scenario "${name}".${didYouMean(name, known)}`
      throw new ScenarioError({ file: this.#folder.path, message })
    }
    return callFunction(version.candidate, ref, snapshot, this.#options.callMs)
  }

  /**
   * Puts all candidates into force at once. One with problems keeps its last valid version, one that is the same as before keeps
   * its generation; a version without a file is removed.
   */
  #swap(candidates: readonly Candidate[]): void {
    const before = this.#versions
    const isNew = (each: Candidate) => each.data !== undefined && before.get(each.name)?.candidate !== each
    const names = new Set(candidates.map(({ name }) => name))
    const changed = candidates.some(isNew) || [...before.keys()].some((name) => !names.has(name))
    if (changed) this.#generation += 1
    this.#versions = new Map([...before].filter(([name]) => names.has(name)))
    for (const candidate of candidates.filter(isNew)) {
      const { name, file, data } = candidate
      const scenario = { ...(data as ScenarioData), name, file, generation: this.#generation }
      this.#versions.set(name, { scenario, candidate })
    }
    const known = new Set(this.#entries.map(({ file, problems }) => JSON.stringify([file, problems])))
    this.#entries = candidates
      .map(({ name, file, data, problems }): ScenarioEntry => {
        const { generation = null, description = null } = this.get(name) ?? {}
        return { name, origin: 'project', file, generation, valid: data !== undefined, description, problems }
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const broken = this.#entries.filter(
      ({ file, valid, problems }) => !valid && !known.has(JSON.stringify([file, problems])),
    )
    for (const notice of noticesOf({ generation: this.#generation, changed, broken }, this.#entries)) {
      this.#options.onNotice?.(notice)
    }
    for (const listener of [...this.#listeners]) listener()
  }

  readonly #failed = (error: unknown): void =>
    this.#options.onNotice?.({
      level: 'warn',
      event: 'scenario_failed',
      message: `${this.#folder.path} could not be loaded; the active versions stay in force: ${String(error)}`,
      file: this.#folder.path,
    })
}
