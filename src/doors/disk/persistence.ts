import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Ledger } from '../../kernel/assumptions.ts'
import type { Service } from '../../kernel/operation.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import type { Later } from '../realtime.ts'
import { Checkpointer } from './checkpoint.ts'
import { CheckpointWriter } from './checkpoint-writer.ts'
import { Edits } from './edits.ts'
import { type Files, hasCode, nodeFiles, reasonOf } from './files.ts'
import { Lock } from './lock.ts'
import { type Durability, earlierGenerations, Log } from './log.ts'
import { siblings } from './names.ts'
import type { OnNotice } from './notice.ts'
import { OwnFile } from './own-file.ts'
import { type LoadedWorld, type Recovered, recover } from './recovery.ts'
import { type Watch, watchFailed, watchFile } from './watch.ts'

export interface PersistenceOptions {
  /** The state file; its log is `<file>.log`. A symbolic link is followed once, now. */
  readonly file: string
  readonly durability: Durability
  readonly later: Later
  readonly onNotice: OnNotice
  /** The file system; a test may give one that fails. */
  readonly files?: Files
}

/** After a checkpoint, so many milliseconds are given to an editor that had just opened the file that it replaced. */
const UNTIL_STRAYS = 500

/**
 * Opens the files of one world: locks them and removes what a crash has left half written. Then in this order:
 * {@link Persistence.load}, {@link Persistence.attach}, {@link Persistence.close}. Throws `StateFileLocked`, or the error of
 * the operating system.
 */
export function openPersistence(options: PersistenceOptions): Persistence {
  const files = options.files ?? nodeFiles
  const path = located(files, options.file)
  const lock = Lock.take(files, path)
  try {
    for (const each of siblings(files, path)) {
      if (each.endsWith('.tmp') && !each.startsWith(`${path}.lock.`)) files.remove(each)
    }
    return new Persistence(files, path, lock, options)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Everything that keeps one world on the disk. */
export class Persistence {
  /** The state file, links followed. */
  readonly file: string
  readonly #files: Files
  readonly #lock: Lock
  readonly #options: PersistenceOptions
  readonly #own: OwnFile
  readonly #log: Log
  #recovered: Recovered | undefined
  #hasLoaded = false
  #checkpointer: Checkpointer | undefined
  #edits: Edits | undefined
  #watch: Promise<Watch> | undefined
  #cancelStrays: (() => void) | undefined

  constructor(files: Files, path: string, lock: Lock, options: PersistenceOptions) {
    this.file = path
    this.#files = files
    this.#lock = lock
    this.#options = options
    this.#own = new OwnFile(files, path)
    this.#log = new Log(files, `${path}.log`, options.durability, () => this.checkpointNow())
  }

  /**
   * The world that the files hold, undefined when there is none yet or none that can be used; then everything unusable has
   * been moved aside and said. Throws `NewerFormat` for files of a newer version.
   */
  async load(service: Service, ledger: Ledger, strict: boolean): Promise<LoadedWorld | undefined> {
    const context = { service, ledger, strict }
    this.#recovered = await recover(this.#files, this.file, context, this.#options.onNotice)
    this.#hasLoaded = true
    return this.#recovered?.loaded
  }

  /**
   * Makes a world durable from now on: every commit is in the log before it is visible, checkpoints follow, and edits of the
   * file are taken. The world is the one that was loaded, or a new one, whose first checkpoint stands when this resolves.
   */
  async attach(sandbox: Sandbox): Promise<void> {
    if (!this.#hasLoaded)
      throw new Error('load() comes before attach(): what is on the disk would be overwritten')
    const [files, own, log, lock] = [this.#files, this.#own, this.#log, this.#lock]
    const { later, onNotice } = this.#options
    const wantsCheckpoint = (): void => this.#checkpointer?.urge()
    const edits = new Edits({ files, own, log, sandbox, later, onNotice, wantsCheckpoint })
    const writer = new CheckpointWriter({ files, own, log, lock, sandbox, edits })
    this.#edits = edits
    this.#checkpointer = new Checkpointer({
      write: () => this.#write(writer),
      later,
      onFailure: (reason) => this.#failed(reason),
      onRecovery: () => this.#mended(),
      size: this.#recovered?.stat.size ?? 0,
    })
    this.#takeOver(sandbox)
    if (this.#recovered === undefined) await this.checkpointNow()
    else if (this.#recovered.wantsCheckpoint) this.#checkpointer.changed()
    this.#recovered = undefined
    this.#startWatching(edits)
  }

  /** Writes a checkpoint that contains everything so far. Rejects when it fails; the log has everything all the same. */
  async checkpointNow(): Promise<void> {
    await this.#checkpointer?.now()
  }

  /** Resolves when edits of the file are being watched for. */
  async watching(): Promise<void> {
    await this.#watch
  }

  /** A last checkpoint, then everything is let go. Never rejects: what could not be written is said, and is in the log. */
  async close(): Promise<void> {
    this.#edits?.close()
    // Failures have been reported.
    await this.checkpointNow().catch(() => {})
    if (this.#edits?.settleStrays()) await this.checkpointNow().catch(() => {})
    await this.#letGo()
  }

  /** Lets everything go and removes the state file and its log. What was kept beside them, such as refused edits, stays. */
  async remove(): Promise<void> {
    this.#edits?.close()
    await this.#letGo(() => {
      const log = `${this.file}.log`
      const temporary = siblings(this.#files, this.file).filter((each) => each.endsWith('.tmp'))
      for (const each of [...temporary, ...earlierGenerations(this.#files, log), log, this.file]) {
        this.#files.remove(each)
      }
    })
  }

  // The lock goes last: until then nobody else may touch the files.
  async #letGo(last: () => void = () => {}): Promise<void> {
    await this.#checkpointer?.stop()
    this.#cancelStrays?.()
    const watch = await this.#watch?.catch(() => undefined)
    await watch?.close()
    this.#log.close()
    this.#own.close()
    this.#checkpointer = undefined
    try {
      last()
    } finally {
      this.#release()
    }
  }

  #release(): void {
    try {
      this.#lock.release()
    } catch (error) {
      this.#options.onNotice({
        level: 'warn',
        event: 'lock_left',
        message: `The lock of ${this.file} could not be removed: ${reasonOf(error)}. It opens when this process ends; to use the file sooner, delete ${this.file}.lock.`,
        file: this.file,
      })
    }
  }

  #takeOver(sandbox: Sandbox): void {
    const recovered = this.#recovered
    if (recovered !== undefined) this.#own.read(recovered.stat, recovered.base, recovered.document)
    this.#log.begin(sandbox.store.revision, recovered?.base)
    if (recovered !== undefined && !recovered.needsLog) this.#log.dropEarlier()
    sandbox.store.journal = this.#log
    sandbox.store.onCommit(() => this.#checkpointer?.changed())
  }

  async #write(writer: CheckpointWriter): Promise<number> {
    const busy = await writer.write()
    if (this.#own.hasFormers && this.#cancelStrays === undefined) {
      this.#cancelStrays = this.#options.later(UNTIL_STRAYS, () => {
        this.#cancelStrays = undefined
        this.#edits?.settleStrays()
      })
    }
    return busy
  }

  // Looks once when the watch begins, for what was saved before.
  #startWatching(edits: Edits): void {
    const { onNotice } = this.#options
    const failed = (error: unknown): void => watchFailed(this.file, error, onNotice)
    const look = (): void => {
      edits.settle().catch(failed)
    }
    this.#watch = watchFile(this.file, look, onNotice)
    this.#watch.then(look, failed)
  }

  #failed(reason: string): void {
    this.#options.onNotice({
      level: 'error',
      event: 'checkpoint_failed',
      message: `${this.file} could not be written: ${reason}. Nothing is lost: every change is in ${this.#log.path}, which grows until writing works again. It is tried again by itself.`,
      file: this.file,
    })
  }

  #mended(): void {
    const message = `${this.file} is being written again.`
    this.#options.onNotice({ level: 'info', event: 'checkpoint_recovered', message, file: this.file })
  }
}

// The real path, also of a file or a link whose target does not exist yet.
function located(files: Files, file: string): string {
  const path = linkTarget(resolve(file))
  files.makeDirectory(dirname(path))
  return join(realpathSync(dirname(path)), basename(path))
}

function linkTarget(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path
}
