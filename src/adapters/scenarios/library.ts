import { resolve } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { didYouMean } from '../../core/did-you-mean.ts'
import type { CallFunction, ScenarioEntry, ScenarioSource } from '../../core/scenarios/source.ts'
import { later } from '../../core/time/realtime.ts'
import { readFolder, textsIn, watchFolder } from './folder.ts'
import { type Candidate, callFunction, loadScenarios } from './load.ts'
import { noticesOf, type OnScenarioNotice, ScenarioError } from './problem.ts'
import { type ScenarioData, type ScenarioVersion, type ScenarioVocabulary, scenarioSchema } from './schema.ts'

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

/** Real milliseconds until a problem of a file is reported, since the file may be half saved. */
const HALF_SAVED = 150

/**
 * The scenarios of a folder. A file is loaded again when it, or a file that it imports, has changed; a broken one is tried again
 * at every change, and keeps its last valid version in force. All are swapped together. Files at the top are scenarios;
 * subfolders, and files whose name starts with `_`, are for imports. Imported files outside the folder are watched, too, but
 * packages are not.
 */
export class ScenarioLibrary implements ScenarioSource {
  readonly #options: LibraryOptions
  readonly #listeners = new Set<() => void>()
  readonly #folder: string
  #generation = 0
  /** The last valid version of each scenario. */
  #versions = new Map<string, Version>()
  #entries: readonly ScenarioEntry[] = []
  /** The result of the last load, problems included. */
  #candidates: readonly Candidate[] = []
  #prints: ReadonlyMap<string, string> | undefined
  #loading: Promise<void> | undefined
  #closed = false
  #watcher: FSWatcher | undefined
  #opened: Promise<void> | undefined

  /** @param folder may be missing; nothing is read before {@link load} */
  constructor(folder: string, options: LibraryOptions) {
    this.#folder = resolve(folder)
    this.#options = options
  }

  /** Loads the folder and watches it. Resolves after the first load. */
  load(): Promise<void> {
    this.#opened ??= this.#watch().then(() => this.#reload())
    return this.#opened
  }

  /** Loads changes at once, without waiting for the watch. */
  async refresh(): Promise<void> {
    await this.load()
    await this.#reloadAgain()
  }

  /** Stops watching. A load in progress has no effect any more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#watcher?.close()
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
    const used = this.#candidates.filter(({ name }) => names.has(name)).flatMap(({ files }) => [...files])
    return textsIn(this.#folder, new Set(used))
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
      throw new ScenarioError({ file: this.#folder, message })
    }
    return callFunction(version.candidate, ref, snapshot, this.#options.callMs)
  }

  async #watch(): Promise<void> {
    const watcher = await watchFolder(this.#folder, () => void this.#opened?.then(() => this.#reloadAgain()))
    if (this.#closed) await watcher.close()
    else this.#watcher = watcher
  }

  // The load in progress may have read a file before it was changed.
  async #reloadAgain(): Promise<void> {
    await this.#loading
    if (!this.#closed) await this.#reload()
  }

  #reload(): Promise<void> {
    this.#loading ??= this.#load()
      .catch(this.#failed)
      .finally(() => {
        this.#loading = undefined
      })
    return this.#loading
  }

  async #load(mayWait = true): Promise<void> {
    const { files, prints } = await readFolder(this.#folder, this.#imported())
    if (this.#closed || isSame(prints, this.#prints)) return
    const candidates = await this.#read(files, prints)
    if (mayWait && this.#mayBeHalfSaved(candidates, prints)) {
      await new Promise<void>((resolve) => later(HALF_SAVED, resolve))
      const { prints: now } = await readFolder(this.#folder, this.#imported())
      if (!isSame(now, prints)) return this.#load(false)
    }
    if (this.#closed) return
    this.#candidates = candidates
    // Files that were imported for the first time are added. For the others the print from before the load counts, so that a
    // change during the load is noticed.
    const after = await readFolder(this.#folder, this.#imported())
    this.#prints = new Map([...after.prints, ...prints])
    this.#watcher?.add(this.#imported())
    this.#swap(candidates)
  }

  #read(files: readonly string[], prints: ReadonlyMap<string, string>): Promise<Candidate[]> {
    const unchanged = this.#candidates.filter(
      (each) => each.data !== undefined && !this.#isChanged(each, prints),
    )
    return loadScenarios(files, scenarioSchema(this.#options.vocabulary), unchanged)
  }

  #isChanged({ files }: Candidate, prints: ReadonlyMap<string, string>): boolean {
    return [...files].some((file) => prints.get(file) !== this.#prints?.get(file))
  }

  #mayBeHalfSaved(candidates: readonly Candidate[], prints: ReadonlyMap<string, string>): boolean {
    const names = new Set(candidates.map(({ name }) => name))
    const isGone = this.list().some(({ name }) => !names.has(name))
    return isGone || candidates.some((each) => each.data === undefined && this.#isChanged(each, prints))
  }

  #imported(): string[] {
    return [...new Set(this.#candidates.flatMap(({ files }) => [...files]))]
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
      message: `${this.#folder} could not be loaded; the active versions stay in force: ${String(error)}`,
      file: this.#folder,
    })
}

function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string> | undefined): boolean {
  return a.size === b?.size && [...a].every(([file, print]) => b.get(file) === print)
}
