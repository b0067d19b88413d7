import { isDeepStrictEqual } from 'node:util'
import type { AssumptionCatalog } from '../../core/assumptions.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { StorageReport } from '../../core/sandboxes/sandboxes.ts'
import type { Service } from '../../core/service.ts'
import type { Later } from '../realtime.ts'
import { CheckpointWriter, copyToPrevious } from './checkpoint.ts'
import {
  type ChangeMark,
  Checkpointer,
  changeMarkOf,
  type ExitBudget,
  expectedTime,
} from './checkpoint-schedule.ts'
import { Edits } from './edits.ts'
import { type Files, nodeFiles } from './files.ts'
import { type Durability, JournalWriter } from './journal.ts'
import { clearOldLock } from './lock-taking.ts'
import { earlierGenerations, journalOf, previousOf, realPathOf, siblings } from './names.ts'
import type { OnNotice } from './notice.ts'
import { OwnFile } from './own-file.ts'
import { type LoadedState, type Recovered, recover } from './recovery.ts'
import { SetAside } from './set-aside.ts'

interface PersistenceOptions {
  /** The state file; its journal is `<file>.journal`. A symbolic link is followed once, in the constructor. */
  readonly file: string
  readonly durability: Durability
  readonly later: Later
  readonly onNotice: OnNotice
  /** The file system. A test replaces it to inject faults. */
  readonly files?: Files
}

/**
 * The files of one sandbox. Call in this order: {@link Persistence.load}, {@link Persistence.attach},
 * {@link Persistence.close}. The data folder must be locked before.
 */
export class Persistence {
  /** The state file, links followed. */
  readonly file: string
  readonly #files: Files
  readonly #options: PersistenceOptions
  readonly #own: OwnFile
  readonly #journal: JournalWriter
  readonly #aside: SetAside
  #recovered: Recovered | undefined
  #hasLoaded = false
  /** The parts that exist while a sandbox is attached. */
  #attached: Attached | undefined
  /** The mark of the sandbox at the last write or read of the state file. */
  #saved: ChangeMark | undefined
  /** Whether the state file lacks commits that were in the journal when it was read. */
  #lacksCommits = false

  /**
   * Opens the files, and removes temporary files that a crash has left. Throws `DataFolderLocked` when an emulator of version
   * 0.1 uses the file, or the error of the operating system.
   */
  constructor(options: PersistenceOptions) {
    const { files = nodeFiles, durability, onNotice } = options
    this.file = realPathOf(files, options.file)
    this.#files = files
    this.#options = options
    clearOldLock(files, this.file)
    this.#removeTemporary()
    this.#own = new OwnFile(files, this.file)
    this.#aside = new SetAside(files, this.file, onNotice)
    this.#journal = new JournalWriter({
      files,
      path: journalOf(this.file),
      durability,
      rescue: () => this.checkpointNow(),
      onLost: () => this.#reportLostJournal(),
    })
  }

  /**
   * Reads the state from the files. Undefined when there is none, or none that can be used: that one has been moved aside and
   * reported. Throws `NewerFormat` for files of a newer version.
   */
  async load(
    service: Service,
    assumptions: AssumptionCatalog,
    strict: boolean,
  ): Promise<LoadedState | undefined> {
    this.#recovered = await recover({ service, assumptions, strict }, this.#aside)
    this.#hasLoaded = true
    return this.#recovered?.loaded
  }

  /**
   * Makes a sandbox durable from now on: every commit is in the journal before it is visible, checkpoints follow, and edits of
   * the file are applied. The sandbox must have the loaded state or be new. For a new one, the first checkpoint is written
   * before this resolves. Throws when {@link Persistence.load} was not called.
   */
  async attach(sandbox: Sandbox): Promise<void> {
    if (!this.#hasLoaded)
      throw new Error('Call load() before attach(): otherwise the files on the disk would be overwritten')
    const [files, own, journal, aside] = [this.#files, this.#own, this.#journal, this.#aside]
    const { later } = this.#options
    const recovered = this.#recovered
    this.#recovered = undefined
    const wantsCheckpoint = (): void => checkpointer.urge()
    const edits = new Edits({ own, journal, aside, sandbox, later, wantsCheckpoint })
    const writer = new CheckpointWriter({ files, own, journal, sandbox, edits })
    const checkpointer = new Checkpointer({
      write: () => this.#write(writer, sandbox, edits),
      later,
      onFailure: (reason) => this.#reportFailure(reason),
      onRecovery: () => aside.notify('info', 'checkpoint_recovered', `${this.file} is being written again.`),
      size: recovered?.found.stat.size ?? 0,
    })
    this.#attached = { sandbox, edits, writer, checkpointer }
    this.#continue(sandbox, recovered)
    if (recovered?.file === 'edited') await edits.start()
    const isNew = recovered === undefined || recovered.checkpoint === 'now'
    if (isNew) await checkpointer.now()
    else if (recovered.checkpoint === 'soon') checkpointer.changed()
    if (isNew || files.stat(previousOf(this.file)) === undefined) this.#copyToPrevious()
    for (const each of recovered?.old ?? []) files.remove(each)
    edits.watch()
  }

  /** A report of content that {@link Persistence.load} set aside; undefined when there is none. */
  report(): StorageReport | undefined {
    return this.#aside.report()
  }

  /** Writes a checkpoint that contains everything so far. Rejects when it fails; everything is in the journal. */
  async checkpointNow(): Promise<void> {
    await this.#attached?.checkpointer.now()
  }

  /** Resolves when the file is watched for edits. */
  async watching(): Promise<void> {
    await this.#attached?.edits.watching()
  }

  /**
   * Writes a last checkpoint if the file lacks changes and there is time, then closes everything. Never rejects: failures are
   * reported, and the journal has every change.
   * @param budget shares out the time; absent: no limit
   */
  async close(budget?: ExitBudget): Promise<void> {
    this.#attached?.edits.close()
    await this.#writeLast(budget)
    await this.#stop()
  }

  /** Closes everything and removes the state file, the previous checkpoint and the journal. Files that were set aside stay. */
  async remove(): Promise<void> {
    this.#attached?.edits.close()
    await this.#stop()
    this.#removeTemporary()
    const journal = journalOf(this.file)
    const journals = [...earlierGenerations(this.#files, journal), journal]
    for (const each of [previousOf(this.file), ...journals, this.file]) this.#files.remove(each)
  }

  #removeTemporary(): void {
    for (const each of siblings(this.#files, this.file)) if (each.endsWith('.tmp')) this.#files.remove(each)
  }

  async #writeLast(budget: ExitBudget | undefined): Promise<void> {
    if (this.#attached === undefined || this.#saved === undefined) return
    const { sandbox, edits, writer, checkpointer } = this.#attached
    // Failures have been reported.
    await edits.done().catch(() => {})
    edits.lookBack()
    if (!this.#lacksCommits && isDeepStrictEqual(this.#saved, changeMarkOf(sandbox))) return
    const share = budget?.take(this.file, expectedTime(sandbox, checkpointer.busy, this.#saved))
    if (budget !== undefined && share === undefined) {
      writer.abandon()
      return
    }
    const cancel = share && this.#options.later(share.ms, () => writer.abandon())
    await checkpointer.now().catch(() => {})
    if (edits.lookBack()) await checkpointer.now().catch(() => {})
    cancel?.()
    share?.end(writer.isAbandoned)
  }

  async #stop(): Promise<void> {
    await this.#attached?.checkpointer.stop()
    await this.#attached?.edits.stopWatching()
    this.#journal.close()
    this.#own.close()
    this.#attached = undefined
  }

  // Continues the files that were found.
  #continue(sandbox: Sandbox, recovered: Recovered | undefined): void {
    if (recovered !== undefined) {
      const { found, file, base, previous, checkpoint } = recovered
      // An edited file is not set here, so that the first check for edits finds it.
      if (file !== 'edited') {
        this.#own.read(found, file === 'checkpoint')
        this.#journal.setFile({ sha256: found.sha256, checkpoint: file === 'checkpoint' })
      }
      if (base !== undefined) this.#own.remember(base, found.stat.size)
      if (previous !== undefined) this.#own.setPrevious(previous)
      this.#lacksCommits = checkpoint !== 'unneeded'
      const standing = changeMarkOf(sandbox)
      // The size of the file does not include what the journal adds.
      this.#saved = this.#lacksCommits ? { ...standing, records: 0 } : standing
    }
    this.#journal.begin(sandbox.store.revision, this.#own.checkpoint)
    sandbox.store.journal = this.#journal
    sandbox.store.onCommit(() => this.#attached?.checkpointer.changed())
  }

  // A first checkpoint has no previous one until the next. Without a copy, an edit together with a crash would lose commits.
  #copyToPrevious(): void {
    const { checkpoint, isCheckpoint } = this.#own
    if (isCheckpoint && checkpoint !== undefined && copyToPrevious(this.#files, this.file))
      this.#own.setPrevious(checkpoint)
  }

  async #write(writer: CheckpointWriter, sandbox: Sandbox, edits: Edits): Promise<number> {
    // Changes between this line and the copy of the state are in the file. At worst they cause one more checkpoint.
    const standing = changeMarkOf(sandbox)
    const busy = await writer.checkpoint()
    this.#saved = standing
    this.#lacksCommits = false
    edits.lookBackLater()
    return busy
  }

  #reportFailure(reason: string): void {
    // A checkpoint that was given up at the end has not failed.
    if (this.#attached?.writer.isAbandoned === true) return
    this.#aside.notify(
      'error',
      'checkpoint_failed',
      `${this.file} could not be written: ${reason}. Nothing is lost: every change is in ${this.#journal.path}, which grows until writing works again. The emulator retries automatically.`,
    )
  }

  #reportLostJournal(): void {
    const { path } = this.#journal
    this.#options.onNotice({
      level: 'error',
      event: 'journal_lost',
      message: `${path} was removed, replaced or truncated by another program while the emulator runs. Nothing is lost: everything is in memory, a new journal has been created, and ${this.file} is written at once; requests wait for that. Exclude the data directory from programs that clean up or rotate files.`,
      file: path,
    })
  }
}

interface Attached {
  readonly sandbox: Sandbox
  readonly edits: Edits
  readonly writer: CheckpointWriter
  readonly checkpointer: Checkpointer
}
