import { dirname, join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { refuse } from '../../kernel/errors.ts'
import type { WorldState } from '../../kernel/state/state.ts'
import { documentOf, type Shelf, type SnapshotEntry } from '../../kernel/worlds/snapshots.ts'
import { type Files, nodeFiles } from './files.ts'
import { keptName, savedWorlds } from './names.ts'
import type { OnNotice } from './notice.ts'
import { onDisk } from './on-disk.ts'
import type { LoadContext } from './recovery.ts'
import { WorldFiles } from './world-files.ts'
import { placeDocument } from './write-document.ts'

export interface SnapshotFilesOptions {
  /** One file for each snapshot, `<name>.json`; made when the first one is saved. */
  readonly directory: string
  /** Name of the sandbox whose snapshots they are. */
  readonly sandbox: string
  readonly context: LoadContext
  readonly onNotice: OnNotice
  /** The file system; a test may give one that fails. */
  readonly files?: Files
}

/** The world that the sandbox started from. No snapshot can have this name, so that lists do not show it. */
const START = '(start)'

/**
 * Snapshots that outlive the process: each a state document in a file of its own. The files are the truth, also when somebody
 * edits or removes one. One that cannot be used is never overwritten nor removed: it is moved aside, and said.
 */
export class SnapshotFiles implements Shelf {
  readonly #files: Files
  readonly #directory: string
  readonly #options: SnapshotFilesOptions
  readonly #worlds: WorldFiles

  constructor(options: SnapshotFilesOptions) {
    this.#files = options.files ?? nodeFiles
    this.#directory = resolve(options.directory)
    this.#options = options
    this.#worlds = new WorldFiles(this.#files, options.context)
  }

  /** Removes what a crash has left half written. */
  sweep(): void {
    for (const name of this.#list())
      if (name.endsWith('.tmp')) this.#files.remove(join(this.#directory, name))
  }

  /**
   * Makes room for a sandbox that is being made. Snapshots of a former one of its name are moved aside and said.
   * @param start what the new one starts from, when that is to be kept
   */
  async begin(start: WorldState | undefined): Promise<void> {
    this.sweep()
    if (this.names().length > 0) this.#moveOrphansAside()
    this.#files.remove(this.#path(START))
    if (start !== undefined) await this.#place(START, start)
  }

  /** Removes all snapshots, and the world that the sandbox started from. What was moved aside before stays. */
  clear(): void {
    this.sweep()
    for (const name of [...this.names(), START]) this.#files.remove(this.#path(name))
    this.#files.removeDirectory(this.#directory)
  }

  names(): readonly string[] {
    return savedWorlds(this.#files, this.#directory)
  }

  async describe(name: string): Promise<SnapshotEntry | undefined> {
    const path = this.#path(name)
    // Reading many files takes a while: whoever else has something to do comes in between.
    if (this.#worlds.remembered(path) === undefined) await nextTurn()
    const facts = this.#worlds.facts(path)
    return facts && { name, ...facts }
  }

  async read(name: string): Promise<WorldState | undefined> {
    const problem = this.#problemOf(name)
    if (problem === null) return this.#worlds.world(this.#path(name))
    return refuse('conflict', {
      detail: `The snapshot "${name}" cannot be used: ${problem}.`,
      mitigation:
        'Mend the file, or save or import a snapshot under that name; the damaged file is then kept beside.',
    })
  }

  async write(name: string, world: WorldState): Promise<void> {
    await onDisk(this.#path(name), async () => this.#keepDamaged(name, 'another takes its place'))
    await this.#place(name, world)
  }

  async remove(name: string): Promise<void> {
    const path = this.#path(name)
    await onDisk(path, async () => {
      if (!this.#keepDamaged(name, 'it was deleted')) this.#files.remove(path)
      await this.#files.syncDirectory(path)
    })
    this.#worlds.forget(path)
  }

  async start(): Promise<WorldState | undefined> {
    const problem = this.#problemOf(START)
    if (problem === null) return this.#worlds.world(this.#path(START))
    return refuse('conflict', {
      detail: `The world that the sandbox "${this.#options.sandbox}" started from cannot be used: ${problem}.`,
      mitigation:
        'Mend the file, or remove it: the sandbox then starts again as the emulator was told to start worlds.',
    })
  }

  /** Why a file cannot be used; null when it can, or is not there. */
  #problemOf(name: string): string | null {
    return this.#worlds.facts(this.#path(name))?.problem ?? null
  }

  async #place(name: string, world: WorldState): Promise<void> {
    const { context, sandbox } = this.#options
    const path = this.#path(name)
    await onDisk(path, async () => {
      await this.#makeDirectory()
      const stat = await placeDocument(this.#files, path, documentOf(world, context.service, sandbox))
      this.#worlds.wrote(path, stat, world)
    })
  }

  async #makeDirectory(): Promise<void> {
    if (!this.#files.makeDirectory(this.#directory)) return
    await this.#files.syncDirectory(this.#directory)
    await this.#files.syncDirectory(dirname(this.#directory))
  }

  /** Moves a file that cannot be used aside. False when it can. */
  #keepDamaged(name: string, because: string): boolean {
    const problem = this.#problemOf(name)
    if (problem === null) return false
    const path = this.#path(name)
    const kept = keptName(this.#files, path, 'corrupt')
    this.#files.rename(path, kept)
    this.#options.onNotice({
      level: 'error',
      event: 'snapshot_damaged',
      message: `${problem}. The snapshot could not be used, and ${because}; the file has been kept as ${kept}.`,
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
      message: `${this.#directory} held snapshots of an earlier sandbox "${sandbox}". They are now in ${kept}; PUT /@${sandbox}/__emulator/snapshots/{name} with the content of a file takes it over.`,
      file: this.#directory,
      kept,
    })
  }

  #list(): string[] {
    return this.#files.stat(this.#directory) === undefined ? [] : this.#files.list(this.#directory)
  }

  #path(name: string): string {
    return join(this.#directory, `${name}.json`)
  }
}
