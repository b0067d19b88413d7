import { resolve } from 'node:path'
import { didYouMean } from '../../core/did-you-mean.ts'
import type { FunctionRef } from '../../core/scenarios/row.ts'
import type {
  ScenarioCommand,
  ScenarioEntry,
  ScenarioSnapshot,
  ScenarioSource,
} from '../../core/scenarios/source.ts'
import { type Cancel, type Later, later } from '../realtime.ts'
import { ScenarioCatalogue, type Swap } from './catalogue.ts'
import { type FolderWatch, readFolder, watchFolder } from './folder.ts'
import { SCRIPT_LIMITS, ScriptGeneration, type ScriptLimits } from './generation.ts'
import { type Candidate, loadScenarios } from './load.ts'
import { noticesOf, type OnScenarioNotice, problemLine, ScenarioError } from './problem.ts'
import { type ScenarioVersion, type ScenarioVocabulary, scenarioSchema } from './schema.ts'

export interface LibraryOptions {
  readonly vocabulary: ScenarioVocabulary
  readonly limits?: Partial<ScriptLimits>
  readonly onNotice?: OnScenarioNotice
  /** Calls back when the time limit of a script is reached; for tests. */
  readonly later?: Later
}

/** Real milliseconds without a change before a folder is read. */
const QUIET = 50

/** Real milliseconds until a problem of a file is reported, since the file may be half saved. */
const HALF_SAVED = 150

/** Real milliseconds after which a load is aborted when something changes. */
const OVERDUE = 1_000

/** The most reads of a folder that changes while it is read; the last one is used as it is. */
const MAX_ROUNDS = 5

const WRITES = 'A script that writes files should write them to another folder.'
const LEFTOVER = '(outside of any call; the scripts are started again when one is called)'

/**
 * The scenarios of a folder, all loaded again when anything below it changes. They are swapped together; a broken one keeps its
 * last valid version in force. Files at the top are scenarios; subfolders, and files whose name starts with `_`, are for
 * imports. Imported files outside the folder are watched, too, but packages are not.
 */
export class ScenarioLibrary implements ScenarioSource {
  readonly #options: LibraryOptions
  readonly #catalogue = new ScenarioCatalogue()
  readonly #listeners = new Set<(swap: Swap) => void>()
  readonly #folder: string
  #watch: FolderWatch | undefined
  #fingerprint: string | undefined
  #outside: ReadonlySet<string> = new Set()
  #loading: Promise<void> | undefined
  #scripts: ScriptGeneration | undefined
  #dirty = false
  #overdue = false
  #closed = false
  #cancel: Cancel = () => {}
  #opened: Promise<void> | undefined

  /** @param folder may be missing; nothing is read before {@link load} */
  constructor(folder: string, options: LibraryOptions) {
    this.#folder = resolve(folder)
    this.#options = options
  }

  /** Loads the folder and watches it. Resolves after the first load. */
  load(): Promise<void> {
    this.#opened ??= this.#open()
    return this.#opened
  }

  async #open(): Promise<void> {
    const failed = (error: unknown) =>
      this.#notify({
        level: 'warn',
        event: 'scenarios_unwatched',
        message: `${this.#folder} cannot be watched: ${String(error)}. To load changes, start the emulator again.`,
        file: this.#folder,
      })
    const watching = watchFolder(this.#folder, () => this.#look(), failed)
    await this.#reload().catch(this.#failed)
    this.#watch = await watching
    this.#watch.add([...this.#outside])
    if (this.#closed) await this.#watch.close()
  }

  /** Loads changes at once, without waiting for the watch. */
  async refresh(): Promise<void> {
    await this.load()
    // The load in progress may have read a file before it was changed.
    await this.#loading
    if (!this.#closed) await this.#reload()
  }

  /** Stops watching and ends every script. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancel()
    await this.#watch?.close()
    await this.#scripts?.close()
    await this.#loading?.catch(() => {})
    await this.#catalogue.close()
  }

  /** The number of swaps that have changed something. */
  get generation(): number {
    return this.#catalogue.generation
  }

  /** Every file of the folder with the name of a scenario, valid or not, in order of the names. */
  list(): readonly ScenarioEntry[] {
    return this.#catalogue.list()
  }

  /** The version in force: the last that was valid. */
  get(name: string): ScenarioVersion | undefined {
    return this.#catalogue.get(name)?.scenario
  }

  /** Notifies the listener of every swap, also of one that has brought only problems. @returns removes the listener */
  onChange(listener: (swap: Swap) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Calls a function of a scenario in force. Resolves with its commands, which are not applied yet. Rejects with a
   * {@link ScenarioError} when the function throws, exceeds its time limit or does not exist.
   */
  async call(
    name: string,
    ref: FunctionRef,
    snapshot: ScenarioSnapshot,
  ): Promise<readonly ScenarioCommand[]> {
    const version = this.#catalogue.get(name)
    if (version === undefined) {
      const known = this.list().map((entry) => entry.name)
      const message = `has no valid scenario "${name}".${didYouMean(name, known)}`
      throw new ScenarioError({ file: this.#folder, message })
    }
    const { scenario, scripts } = version
    if (hasFunction(scenario, ref)) return scripts.call(scenario.file, ref, snapshot)
    const where = 'on' in ref ? `on "${ref.on}"` : `at step ${ref.timeline} of its timeline`
    throw new ScenarioError({ file: scenario.file, message: `has no function ${where}` })
  }

  #look(): void {
    if (this.#closed) return
    this.#dirty = true
    if (this.#loading !== undefined) {
      if (this.#overdue) void this.#scripts?.close()
      return
    }
    this.#cancel()
    this.#cancel = later(QUIET, () => {
      this.#reload().catch(this.#failed)
    })
  }

  #reload(): Promise<void> {
    this.#loading ??= this.#untilQuiet().finally(() => {
      this.#loading = undefined
      if (this.#dirty) this.#look()
    })
    return this.#loading
  }

  async #untilQuiet(): Promise<void> {
    for (let round = 1; round <= MAX_ROUNDS && !this.#closed; round++) {
      this.#dirty = false
      const { files, fingerprint } = await readFolder(this.#folder, this.#outside)
      if (fingerprint === this.#fingerprint) return
      if (await this.#load(files, fingerprint, round === MAX_ROUNDS)) return
    }
  }

  /** Resolves to false when the folder has changed during the load, so that its result is not used. */
  async #load(files: readonly string[], fingerprint: string, isLast: boolean): Promise<boolean> {
    const scripts = this.#newScripts()
    try {
      const candidates = await this.#loadUnlessOverdue(files, scripts)
      const names = new Set(candidates.map(({ name }) => name))
      const isWhole =
        candidates.every(({ data }) => data !== undefined) && this.list().every(({ name }) => names.has(name))
      if (!isWhole) await new Promise<void>((resolve) => later(HALF_SAVED, resolve))
      const outside = new Set([...this.#outside, ...scripts.outside])
      // The fingerprint for the next comparison is taken first, so that a change after it is noticed.
      const print = await this.#print(outside)
      const isSame = (await this.#print(this.#outside)) === fingerprint
      if (scripts.isClosed || this.#closed || (!isSame && !isLast)) {
        await scripts.close()
        return this.#closed
      }
      if (!isSame) this.#warn(`${this.#folder} changes every time it is loaded. ${WRITES}`)
      scripts.fingerprint = print
      this.#fingerprint = print
      this.#outside = outside
      this.#watch?.add([...scripts.outside])
      this.#publish(this.#catalogue.swap(candidates, scripts))
      return true
    } catch (error) {
      // Scripts in force stay open even if a listener throws.
      if (scripts.fingerprint === undefined) await scripts.close()
      throw error
    }
  }

  /** Aborts a load that is overdue when a file changes: it may be waiting for a script that hangs. */
  async #loadUnlessOverdue(files: readonly string[], scripts: ScriptGeneration): Promise<Candidate[]> {
    this.#scripts = scripts
    this.#overdue = false
    const cancel = later(OVERDUE, () => {
      this.#overdue = true
      if (this.#dirty) void scripts.close()
    })
    try {
      return await loadScenarios(files, scripts, scenarioSchema(this.#options.vocabulary))
    } finally {
      cancel()
      // After this point the scripts may come into force, so a change of the folder must not end them.
      this.#overdue = false
    }
  }

  #newScripts(): ScriptGeneration {
    return new ScriptGeneration({
      folder: this.#folder,
      limits: { ...SCRIPT_LIMITS, ...this.#options.limits },
      later: this.#options.later,
      print: () => this.#print(),
      onLine: (line) => this.#notify({ level: 'info', event: 'scenario_output', message: line }),
      onLeftover: (problem) => this.#warn(`${problemLine(problem)} ${LEFTOVER}`, problem.file),
    })
  }

  async #print(outside: ReadonlySet<string> = this.#outside): Promise<string> {
    return (await readFolder(this.#folder, outside)).fingerprint
  }

  #publish(swap: Swap): void {
    for (const notice of noticesOf(swap, this.list())) this.#notify(notice)
    for (const listener of [...this.#listeners]) listener(swap)
  }

  readonly #failed = (error: unknown): void =>
    this.#warn(`${this.#folder} could not be loaded; the active versions stay in force: ${String(error)}`)

  #warn(message: string, file = this.#folder): void {
    this.#notify({ level: 'warn', event: 'scenario_failed', message, file })
  }

  #notify(notice: Parameters<OnScenarioNotice>[0]): void {
    this.#options.onNotice?.(notice)
  }
}

function hasFunction({ timeline, on }: ScenarioVersion, ref: FunctionRef): boolean {
  return 'on' in ref ? on.includes(ref.on) : timeline[ref.timeline]?.do === 'function'
}
