import { join, resolve } from 'node:path'
import { refuse } from '../../core/errors.ts'
import {
  documentOf,
  factsOf,
  type SnapshotFacts,
  type SnapshotStorage,
  type SnapshotView,
} from '../../core/sandboxes/snapshots.ts'
import { checkDocument } from '../../core/state/document.ts'
import type { SandboxState } from '../../core/state/state.ts'
import { sentence } from '../../core/words.ts'
import { errorMessage, type FileStat, type Files, nodeFiles, onDisk, replace, sameStat } from './files.ts'
import { keptName, savedSandboxNames } from './names.ts'
import type { OnNotice } from './notice.ts'
import type { LoadContext } from './recovery.ts'
import { bytesOf, issuesError, parseState, UnusableState } from './state-file.ts'

interface SnapshotFilesOptions {
  /** One file for each snapshot, `<name>.json`; created when the first one is saved. */
  readonly directory: string
  /** Name of the sandbox. */
  readonly sandbox: string
  readonly context: LoadContext
  readonly onNotice: OnNotice
  /** The file system. A test replaces it to inject faults. */
  readonly files?: Files
}

/** The file name of the starting state. No snapshot can have this name, so lists do not show it. */
const START = '(start)'

/** Maximum number of snapshots whose states are kept in memory: the last used ones. */
const MAX_STATES = 8

/** A file that has been read or written. It is cached until it changes. */
interface Known {
  readonly stat: FileStat
  readonly facts: SnapshotFacts
  /** Absent for a file with a problem, and for one that has not been used for long. */
  state?: SandboxState | undefined
}

/**
 * Snapshots that outlive the process. Each is a state document in a separate file, which users may edit or remove. When a
 * snapshot with an unusable file is saved again or deleted, that file is moved aside and reported.
 */
export class SnapshotFiles implements SnapshotStorage {
  readonly #files: Files
  readonly #directory: string
  readonly #options: SnapshotFilesOptions
  /** By path, the last used one at the end. */
  readonly #known = new Map<string, Known>()

  constructor(options: SnapshotFilesOptions) {
    this.#files = options.files ?? nodeFiles
    this.#directory = resolve(options.directory)
    this.#options = options
  }

  /** Removes temporary files that a crash has left. */
  sweep(): void {
    const names = this.#files.stat(this.#directory) === undefined ? [] : this.#files.list(this.#directory)
    for (const name of names) if (name.endsWith('.tmp')) this.#files.remove(join(this.#directory, name))
  }

  /**
   * Prepares the folder for a new sandbox. Snapshots of an earlier sandbox with the same name are moved aside and reported.
   * @param start the starting state of the new sandbox, if it is kept
   */
  async begin(start: SandboxState | undefined): Promise<void> {
    this.sweep()
    if (this.names().length > 0) this.#moveOrphansAside()
    this.#files.remove(this.#path(START))
    if (start !== undefined) await this.write(START, start)
  }

  /** Removes all snapshots, and the state that the sandbox started from. Files that were moved aside stay. */
  clear(): void {
    this.sweep()
    for (const name of [...this.names(), START]) this.#files.remove(this.#path(name))
    this.#files.removeDirectory(this.#directory)
  }

  names(): readonly string[] {
    return savedSandboxNames(this.#files, this.#directory)
  }

  async describe(name: string): Promise<SnapshotView | undefined> {
    const known = this.#look(name)
    return known && { name, ...known.facts }
  }

  async read(name: string): Promise<SandboxState | undefined> {
    return this.#read(
      name,
      `The snapshot "${name}"`,
      'Fix the file, or save or import a snapshot with that name; the damaged file is then kept next to it.',
    )
  }

  async start(): Promise<SandboxState | undefined> {
    return this.#read(
      START,
      `The starting state of the sandbox "${this.#options.sandbox}"`,
      'Fix the file, or remove it: the sandbox then starts from the options of the emulator.',
    )
  }

  async write(name: string, state: SandboxState): Promise<void> {
    const { service } = this.#options.context
    const path = this.#path(name)
    await onDisk(path, () => {
      this.#keepDamaged(name, 'another one replaces it')
      this.#files.makeDirectory(this.#directory)
      replace(this.#files, path, bytesOf(documentOf(state, service, this.#options.sandbox)))
      const stat = this.#files.stat(path)
      if (stat !== undefined) this.#use(path, { stat, facts: factsOf(state, service), state })
    })
  }

  async remove(name: string): Promise<void> {
    const path = this.#path(name)
    await onDisk(path, () => {
      if (!this.#keepDamaged(name, 'it was deleted')) this.#files.remove(path)
    })
    this.#known.delete(path)
  }

  #read(name: string, what: string, mitigation: string): SandboxState | undefined {
    const known = this.#look(name, true)
    const problem = known?.facts.problem ?? null
    if (problem !== null)
      refuse('conflict', { detail: sentence(`${what} cannot be used: ${problem}`), mitigation })
    return known?.state
  }

  /** A file, from the cache while it has not changed; undefined when there is none. @param withState also needs its state */
  #look(name: string, withState = false): Known | undefined {
    const path = this.#path(name)
    const stat = this.#files.stat(path)
    const known = this.#known.get(path)
    if (stat === undefined) this.#known.delete(path)
    if (stat === undefined) return undefined
    const isWhole = !withState || known?.facts.problem !== null || known.state !== undefined
    if (known !== undefined && isWhole && sameStat(stat, known.stat))
      return withState ? this.#use(path, known) : known
    return this.#load(path, stat)
  }

  #load(path: string, stat: FileStat): Known | undefined {
    const { service, strict } = this.#options.context
    const unusable = (problem: string): Known => ({
      stat,
      facts: { saved_at: null, revision: null, records: null, problem },
    })
    try {
      const bytes = this.#files.read(path)
      if (bytes === undefined) return undefined
      const { document, text } = parseState(path, bytes)
      const checked = checkDocument(document, service, strict)
      if ('issues' in checked) throw issuesError(path, text, checked.issues)
      return this.#use(path, { stat, facts: factsOf(checked.state, service), state: checked.state })
    } catch (error) {
      if (error instanceof UnusableState) return this.#use(path, unusable(error.message))
      // Not cached, because the next read may succeed.
      return unusable(`${path} cannot be read: ${errorMessage(error)}`)
    }
  }

  #use(path: string, known: Known): Known {
    this.#known.delete(path)
    this.#known.set(path, known)
    const loaded = [...this.#known.values()].filter(({ state }) => state !== undefined)
    for (const each of loaded.slice(0, -MAX_STATES)) each.state = undefined
    return known
  }

  /** Moves a file that cannot be used aside. False when it can be used, or is not there. */
  #keepDamaged(name: string, because: string): boolean {
    const problem = this.#look(name)?.facts.problem ?? null
    if (problem === null) return false
    const path = this.#path(name)
    const kept = keptName(this.#files, path, 'corrupt')
    this.#files.rename(path, kept)
    this.#options.onNotice({
      level: 'error',
      event: 'snapshot_damaged',
      message: `${sentence(problem)} The snapshot could not be used, and ${because}; the file has been kept as ${kept}.`,
      file: path,
      kept,
    })
    return true
  }

  #moveOrphansAside(): void {
    const kept = keptName(this.#files, this.#directory, 'orphaned')
    this.#files.rename(this.#directory, kept)
    const { sandbox, onNotice } = this.#options
    onNotice({
      level: 'warn',
      event: 'snapshots_orphaned',
      message: `${this.#directory} contained snapshots of an earlier sandbox "${sandbox}". They are now in ${kept}. To use one, import its file: "workspace-emulator call PUT /snapshots/NAME FILE --sandbox ${sandbox}".`,
      file: this.#directory,
      kept,
    })
  }

  #path(name: string): string {
    return join(this.#directory, `${name}.json`)
  }
}
