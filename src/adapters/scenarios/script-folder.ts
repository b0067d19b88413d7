import { resolve } from 'node:path'
import type { FSWatcher } from 'chokidar'
import type { ScriptProblem } from '../../core/scenarios/source.ts'
import { later } from '../../core/time/realtime.ts'
import { isScenarioFile, readFolder, watchFolder } from './folder.ts'

/** The result of reading a file. */
interface ReadFile {
  readonly file: string
  readonly problems: readonly ScriptProblem[]
  /** The file and those that it imports, without packages. */
  readonly files: ReadonlySet<string>
}

interface ScriptFolderOptions<C extends ReadFile> {
  /** Whether a file of the folder is read for itself. Default: as for scenarios. */
  readonly isListed?: (path: string) => boolean
  /** Reads the files. `unchanged` are results of an earlier time that can be used again. */
  readonly read: (files: readonly string[], unchanged: readonly C[]) => Promise<C[]>
  /** Called with the results of all files after something has changed. */
  readonly swap: (read: readonly C[]) => void
  readonly failed: (error: unknown) => void
}

/** Real milliseconds until a problem of a file is reported, since the file may be half saved. */
const HALF_SAVED = 150

/**
 * The scripts of a folder. A file is read again when it, or a file that it imports, has changed; a broken one at every change.
 * Files at the top are read for themselves; subfolders, and files whose name starts with `_`, are for imports. Imported files
 * outside the folder are watched, too, but packages are not.
 */
export class ScriptFolder<C extends ReadFile> {
  readonly path: string
  readonly #options: ScriptFolderOptions<C>
  /** The result of the last load, problems included. */
  #read: readonly C[] = []
  #prints: ReadonlyMap<string, string> | undefined
  #loading: Promise<void> | undefined
  #closed = false
  #watcher: FSWatcher | undefined
  #opened: Promise<void> | undefined

  /** @param folder may be missing; nothing is read before {@link load} */
  constructor(folder: string, options: ScriptFolderOptions<C>) {
    this.path = resolve(folder)
    this.#options = options
  }

  /** What the last load has read, problems included. */
  get files(): readonly C[] {
    return this.#read
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

  async #watch(): Promise<void> {
    const watcher = await watchFolder(this.path, () => void this.#opened?.then(() => this.#reloadAgain()))
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
      .catch(this.#options.failed)
      .finally(() => {
        this.#loading = undefined
      })
    return this.#loading
  }

  async #load(mayWait = true): Promise<void> {
    const { isListed = isScenarioFile } = this.#options
    const readNow = () => readFolder(this.path, this.#imported(), isListed)
    const { files, prints } = await readNow()
    if (this.#closed || isSame(prints, this.#prints)) return
    const unchanged = this.#read.filter(
      (each) => each.problems.length === 0 && !this.#isChanged(each, prints),
    )
    const read = await this.#options.read(files, unchanged)
    if (mayWait && this.#mayBeHalfSaved(read, prints)) {
      await new Promise<void>((resolve) => later(HALF_SAVED, resolve))
      if (!isSame((await readNow()).prints, prints)) return this.#load(false)
    }
    if (this.#closed) return
    this.#read = read
    // Files that were imported for the first time are added. For the others the print from before the load counts, so that a
    // change during the load is noticed, also a new file.
    const after = await readNow()
    const imported = new Set(this.#imported())
    this.#prints = new Map([...[...after.prints].filter(([file]) => imported.has(file)), ...prints])
    this.#watcher?.add(this.#imported())
    this.#options.swap(read)
  }

  #isChanged({ files }: C, prints: ReadonlyMap<string, string>): boolean {
    return [...files].some((file) => prints.get(file) !== this.#prints?.get(file))
  }

  #mayBeHalfSaved(read: readonly C[], prints: ReadonlyMap<string, string>): boolean {
    const present = new Set(read.map(({ file }) => file))
    const isGone = this.#read.some(({ file }) => !present.has(file))
    return isGone || read.some((each) => each.problems.length > 0 && this.#isChanged(each, prints))
  }

  #imported(): string[] {
    return [...new Set(this.#read.flatMap(({ files }) => [...files]))]
  }
}

function isSame(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string> | undefined): boolean {
  return a.size === b?.size && [...a].every(([file, print]) => b.get(file) === print)
}
