import { isDeepStrictEqual } from 'node:util'
import { LowSync } from 'lowdb'
import { type Sandbox, wakesAt } from '../../core/sandboxes/sandbox.ts'
import type { Service } from '../../core/service.ts'
import type { Document } from '../../core/state/state.ts'
import type { Later } from '../../core/time/realtime.ts'
import { Checkpoints } from './checkpoints.ts'
import { Edits } from './edits.ts'
import { attempt, type Files, nodeFiles, temporary } from './files.ts'
import { JournalWriter } from './journal.ts'
import { journalOf, realPathOf } from './names.ts'
import type { OnNotice, StorageNotice } from './notice.ts'
import { type LoadedState, type Recovered, recover } from './recovery.ts'
import { StateFile } from './state-file.ts'

interface PersistenceOptions {
  /** The state file; its journal is `<file>.journal`. A symbolic link is followed once, in the constructor. */
  readonly file: string
  /** Starts without a journal that does not continue the file, or is damaged. */
  readonly discardJournal?: boolean | undefined
  /** The command that replaces the state of this sandbox by the content of a file. */
  readonly importCommand: (path: string) => string
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
  readonly #journal: JournalWriter
  readonly #state: StateFile
  #recovered: Recovered | undefined
  /** The parts that exist while a sandbox is attached. */
  #attached:
    | { readonly sandbox: Sandbox; readonly edits: Edits; readonly checkpoints: Checkpoints }
    | undefined
  /** What the state file contains; undefined when it lacks commits, or was edited while no emulator was running. */
  #saved: ReturnType<typeof changeMarkOf> | undefined

  /** Throws the error of the operating system if the folder cannot be created. */
  constructor(options: PersistenceOptions) {
    const { files = nodeFiles } = options
    this.file = realPathOf(files, options.file)
    this.#files = files
    this.#options = options
    this.#journal = new JournalWriter({
      files,
      path: journalOf(this.file),
      onLost: () => this.#replaceLostJournal(),
    })
    this.#state = new StateFile(files, this.file, this.#journal)
  }

  /** Reads the state from the files; undefined when there is none. Throws `StartStopped`, and then nothing has changed. */
  load(service: Service, strict: boolean): LoadedState | undefined {
    const { discardJournal = false } = this.#options
    this.#recovered = recover(this.#files, this.file, { service, strict }, discardJournal)
    return this.#recovered.loaded
  }

  /**
   * Makes a sandbox durable from now on: no commit is told to anything outside before it is in the journal, checkpoints follow, and edits of
   * the file are applied. The sandbox must have the loaded state or be new. Throws when the files cannot be written, or when
   * {@link Persistence.load} was not called.
   */
  attach(sandbox: Sandbox): void {
    const recovered = this.#recovered
    if (recovered === undefined)
      throw new Error('Call load() before attach(): otherwise the files on the disk would be overwritten')
    const { later, importCommand, onNotice } = this.#options
    const checkpoints = new Checkpoints({
      write: () => {
        if (edits.look() === 'pending') return false
        this.#save(sandbox)
        return true
      },
      later,
      onFailure: (reason) =>
        this.#report(
          'error',
          'checkpoint_failed',
          `${this.file} could not be written: ${reason}. Nothing is lost: every change is in ${this.#journal.path}, which grows until writing works again. The emulator retries automatically.`,
        ),
      onRecovery: () => this.#report('info', 'checkpoint_recovered', `${this.file} is being written again.`),
    })
    const [files, file, journal] = [this.#files, this.#state, this.#journal]
    const onHandled = (): void => checkpoints.try()
    const edits = new Edits({ files, file, journal, sandbox, later, onNotice, importCommand, onHandled })
    this.#attached = { sandbox, edits, checkpoints }
    try {
      this.#continue(recovered, sandbox)
      if (recovered.file === undefined) checkpoints.now()
    } catch (error) {
      this.#stop()
      throw error
    }
    sandbox.store.journal = journal
    sandbox.store.onCommit(() => checkpoints.changed())
    if (this.#saved === undefined) checkpoints.changed()
    edits.watch()
  }

  /** Writes a checkpoint that contains everything so far. Throws when it fails; everything is in the journal. */
  checkpointNow(): void {
    this.#attached?.checkpoints.now()
  }

  /** Writes a last checkpoint if the file lacks changes, then closes everything. A failure is reported: the journal has every change. */
  close(): void {
    if (this.#attached !== undefined) {
      const { sandbox, edits, checkpoints } = this.#attached
      // The last look refuses an edit that would have to wait. If it fails, so does the checkpoint, which reports the reason.
      const hasEdit = attempt(() => edits.look(true)) !== 'unchanged'
      if (hasEdit || !isDeepStrictEqual(this.#saved, changeMarkOf(sandbox))) checkpoints.try()
    }
    this.#stop()
  }

  /** Closes everything and removes the state file and the journal. */
  remove(): void {
    this.#stop()
    const paths = [this.file, journalOf(this.file)]
    for (const each of paths.flatMap((path) => [temporary(path), path])) this.#files.remove(each)
  }

  #stop(): void {
    this.#attached?.checkpoints.stop()
    this.#attached?.edits.close()
    this.#journal.close()
    this.#attached = undefined
  }

  #continue({ file, journal, hasCommits, isDiscarded }: Recovered, sandbox: Sandbox): void {
    // A crash may have left half a file.
    for (const each of [this.file, this.#journal.path]) this.#files.remove(temporary(each))
    this.#state.accept(file?.digest, file?.stat)
    if (journal === undefined) {
      this.#journal.begin({ file: file?.digest ?? null, revision: sandbox.store.revision })
      const message = `${this.#journal.path} has been discarded: it did not continue the file.`
      if (isDiscarded) this.#report('warn', 'journal_discarded', message)
      return
    }
    if (!hasCommits) this.#saved = changeMarkOf(sandbox)
    this.#journal.continue(journal.end)
    const message = `${this.#journal.path}, byte ${journal.end}: the last line of the journal is incomplete: a write was cut off before it was acknowledged. The incomplete line has been left out.`
    if (journal.isTorn) this.#report('warn', 'journal_torn', message)
  }

  #save(sandbox: Sandbox): void {
    const { format, revision, sandbox: name, ...rest } = sandbox.document()
    // `wakes_at` is among the first fields, so that a start only needs to read the first bytes of the file.
    const document = { format, revision, sandbox: name, wakes_at: wakesAt(sandbox), ...rest }
    new LowSync<Document>(this.#state, document).write()
    this.#saved = changeMarkOf(sandbox)
  }

  // Called within a commit, which is not in the sandbox yet, so an edit cannot be applied now.
  #replaceLostJournal(): void {
    if (this.#attached === undefined) return
    const { edits, sandbox } = this.#attached
    edits.refuse(`${this.file} had to be written, because its journal was lost`)
    this.#save(sandbox)
    const message = `${this.#journal.path} was removed, replaced or truncated by another program while the emulator runs. Nothing is lost: everything was in memory, and ${this.file} has been written with a new journal. Exclude the data directory from programs that clean up or rotate files.`
    this.#report('error', 'journal_lost', message)
  }

  #report(level: StorageNotice['level'], event: StorageNotice['event'], message: string): void {
    this.#options.onNotice({ level, event, message, file: this.file })
  }
}

/** Compared with an earlier mark, shows whether a sandbox has changed: by commits, or by requests, which are in no journal. */
function changeMarkOf({ store, log, limits }: Sandbox) {
  return { revision: store.revision, requests: log.requests, limits: limits.windows.save() }
}
