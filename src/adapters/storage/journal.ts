import { dirname } from 'node:path'
import { Refusal, refuse } from '../../core/errors.ts'
import type { Commit, Journal } from '../../core/state/commit.ts'
import { errorMessage, type Files, writeAll } from './files.ts'
import {
  commitLine,
  encodeLine,
  isHeader,
  JOURNAL_FORMAT,
  type KnownFile,
  readLines,
} from './journal-format.ts'
import { earlierGenerations, generationOf, temporary } from './names.ts'

/** The failure that acknowledged commits survive: `process`, any end of the process; `power`, also a power cut. */
export type Durability = 'process' | 'power'

interface JournalOptions {
  readonly files: Files
  readonly path: string
  readonly durability: Durability
  /** Writes a checkpoint, for a journal that cannot be synced or has been lost. */
  readonly rescue: () => Promise<void>
  /** Called when another program has removed or truncated the journal. */
  readonly onLost: () => void
}

/**
 * The append-only journal of one sandbox: `<file>.journal`, and earlier generations such as `<file>.journal.7`, which are
 * named after the revision that they follow. A generation begins in the same turn in which a checkpoint copies the state.
 * Together the generations continue the previous checkpoint, so no commit is lost with the last checkpoint. After a crash at
 * any point, every line is in some generation. A line that the checkpoint already contains is skipped.
 */
export class JournalWriter implements Journal {
  readonly #options: JournalOptions
  #present: Generation | undefined
  #earlier: Generation[] = []
  /** The revision that the present generation follows. */
  #start = 0
  #commits = 0
  #file: KnownFile | null = null
  /** The edited file whose content the next commit applies. */
  #taking: KnownFile | undefined
  /** `lines`: lines were lost with their file. `copied`: the checkpoint in progress contains them. */
  #lost: 'lines' | 'copied' | undefined

  constructor(options: JournalOptions) {
    this.#options = options
  }

  get path(): string {
    return this.#options.path
  }

  /** Bytes in the present generation. */
  get size(): number {
    return this.#present?.end ?? 0
  }

  /** Writes one line. If that fails, throws `storage_unavailable` and leaves no part of it. The next call tries again. */
  append(commit: Commit): void {
    const file = this.#taking
    const taken = file === undefined ? [] : [Buffer.from(encodeLine({ file }))]
    // Outside of the try block: a value that cannot be written as JSON is not a failure of the disk.
    const line = encodeLine(commitLine(commit))
    try {
      if (this.#present?.isWholeAt(this.path) === false) this.#replaceLost(commit.revision - 1)
      this.#write(taken.length === 0 ? line : Buffer.concat([line, ...taken]))
    } catch (error) {
      // A refusal from the lock of the folder already names its reason.
      if (error instanceof Refusal) throw error
      refuse('storage_unavailable', { detail: `${this.path} could not be written: ${errorMessage(error)}.` })
    }
    if (file !== undefined) this.#file = file
    this.#taking = undefined
    this.#commits += 1
  }

  /**
   * Resolves when everything appended so far survives a power cut; undefined for the durability `process`. If lines were lost
   * with their file, it resolves after the next checkpoint for any durability. Rejects with `storage_unavailable`.
   */
  durable(): Promise<void> | undefined {
    if (this.#lost !== undefined) return this.#rescued('it was removed or truncated by another program')
    return this.#options.durability === 'power' ? this.#durable() : undefined
  }

  /** Sets the present state file. */
  setFile(file: KnownFile): void {
    this.#file = file
  }

  /** Records that the checkpoint with this digest is about to become the state file. Resolves when that is on the disk. */
  async expect(next: string): Promise<void> {
    this.#write(encodeLine({ next }))
    await this.#present?.sync()
  }

  /** Records that the checkpoint with this digest is the state file. If the write fails, the next generation contains it. */
  checkpointed(sha256: string): void {
    this.#file = { sha256, checkpoint: true }
    this.#tryToWrite(encodeLine({ file: this.#file }))
  }

  /**
   * Applies an edit of the state file, which has this digest. The digest is written together with the commit of the edit, so
   * that a crash cannot separate them.
   * @param take applies the edit; calls its argument directly before the commit of the edit, after all other commits
   */
  takeEdit<T>(sha256: string, take: (commits: () => void) => T): T {
    const file = { sha256, checkpoint: false }
    let result: T
    try {
      result = take(() => {
        this.#taking = file
      })
    } finally {
      this.#taking = undefined
    }
    if (this.#file === file) return result
    // An edit that changes no record has no commit. If this write fails, the next start applies the edit again.
    this.#file = file
    this.#tryToWrite(encodeLine({ file }))
    return result
  }

  /**
   * Begins a generation that follows this revision. The present generation is continued if it has no commits or began for a
   * checkpoint that failed: otherwise each failure would leave one more file.
   * @param checkpoint the revision of the last checkpoint; undefined if there is none
   */
  begin(revision: number, checkpoint: number | undefined): void {
    if (this.#lost !== undefined) this.#lost = 'copied'
    const old = this.#present
    const usable = old !== undefined && !old.failed && old.isWholeAt(this.path)
    if (usable && (this.#commits === 0 || this.#start > (checkpoint ?? -1))) return
    this.#present = this.#create(revision)
    if (old === undefined) return
    if (this.#options.durability === 'power') this.#earlier.push(old)
    else old.close()
  }

  /**
   * Removes generations that are no longer needed, after a checkpoint that contains everything before the present generation.
   * @param revision of the previous checkpoint: generations that end before it are removed; undefined if it is not known
   */
  removeBefore(revision: number | undefined): void {
    if (revision !== undefined) {
      const paths = earlierGenerations(this.#options.files, this.path)
      const starts = [...paths.map(generationOf), this.#start]
      for (const [n, path] of paths.entries())
        if ((starts[n + 1] ?? revision + 1) <= revision) this.#options.files.remove(path)
    }
    for (const generation of this.#earlier) generation.close()
    this.#earlier = []
    if (this.#lost === 'copied') this.#lost = undefined
  }

  close(): void {
    for (const generation of [...this.#earlier, this.#present]) generation?.close()
    this.#present = undefined
    this.#earlier = []
  }

  #tryToWrite(line: Uint8Array): void {
    try {
      this.#write(line)
    } catch {}
  }

  #write(line: Uint8Array): void {
    if (this.#present === undefined) throw new Error('the state file is closed')
    this.#present.write(line)
  }

  async #durable(): Promise<void> {
    try {
      await Promise.all([...this.#earlier, this.#present].map((generation) => generation?.sync()))
    } catch (cause) {
      await this.#rescued(`it could not be synced to the disk: ${errorMessage(cause)}`)
    }
  }

  #rescued(cause: string): Promise<void> {
    return this.#options.rescue().catch((error) =>
      refuse('storage_unavailable', {
        detail: `${this.path} is not reliable: ${cause}. A checkpoint failed, too: ${errorMessage(error)}.`,
      }),
    )
  }

  // The lost commits are only in memory. The checkpoint begins after the commit in progress.
  #replaceLost(revision: number): void {
    this.#options.files.makeDirectory(dirname(this.path))
    const old = this.#present
    this.#present = this.#create(revision)
    old?.close()
    this.#lost = 'lines'
    this.#options.onLost()
    this.#options.rescue().catch(() => {})
  }

  #create(revision: number): Generation {
    const { files } = this.#options
    const fresh = temporary(this.path)
    const generation = new Generation(files, fresh, this.path)
    try {
      generation.write(encodeLine({ journal: JOURNAL_FORMAT, revision, file: this.#file }))
      if (files.stat(this.path) !== undefined)
        files.rename(this.path, `${this.path}.${this.#startOfPresent(revision)}`)
      files.rename(fresh, this.path)
    } catch (error) {
      generation.close()
      files.remove(fresh)
      throw error
    }
    this.#start = revision
    this.#commits = 0
    return generation
  }

  // The journal is that of an earlier process: its header names the revision. A truncated one has no line that is needed.
  #startOfPresent(revision: number): number {
    if (this.#present !== undefined) return this.#start
    for (const { line } of readLines(this.#options.files, this.path))
      return line !== undefined && isHeader(line) ? line.revision : revision
    return revision
  }
}

/** One file of a journal, open for writing at its end. */
export class Generation {
  readonly #files: Files
  readonly #path: string
  readonly #file: number
  #inode: number | undefined
  #end = 0
  #torn = false
  #synced = 0
  #named = false
  #failed = false
  #closing = false
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** Creates the file under a temporary name. @param path its later name, whose directory is synced */
  constructor(files: Files, temporary: string, path: string) {
    this.#files = files
    this.#path = path
    this.#file = files.open(temporary, 'wx')
  }

  /** Bytes written. */
  get end(): number {
    return this.#end
  }

  /** Whether a sync has failed. It is never repeated: the system may have dropped the data and report no error then. */
  get failed(): boolean {
    return this.#failed
  }

  /** Writes a whole line, or throws and leaves no part of it. */
  write(line: Uint8Array): void {
    try {
      if (this.#torn) this.#cut()
      writeAll(this.#files, this.#file, line, this.#end)
    } catch (error) {
      this.#torn = true
      this.#tryToCut()
      throw error
    }
    this.#end += line.length
  }

  /** Resolves when everything written before the call is on the disk. One sync at a time serves all callers that wait. */
  sync(): Promise<void> {
    if (this.#synced === this.#end && this.#named && !this.#failed) return Promise.resolve()
    if (this.#running === undefined) return this.#start()
    // The sync in progress may have begun before the last line was written.
    this.#next ??= this.#running.catch(() => {}).then(() => this.#running ?? this.#start())
    return this.#next
  }

  /** Whether the path still leads to this file, with every line. Another program may have removed, replaced or truncated it. */
  isWholeAt(path: string): boolean {
    // A number: creating BigInts takes longer, and this runs before each commit.
    this.#inode ??= Number(this.#files.statOf(this.#file).inode)
    return (this.#files.sizeAt(path, this.#inode) ?? -1) >= this.#end
  }

  /** Closes the file, after a sync that is in progress. */
  close(): void {
    if (this.#closing) return
    this.#closing = true
    if (this.#running === undefined) this.#files.close(this.#file)
    else this.#running.catch(() => {}).then(() => this.#files.close(this.#file))
  }

  #start(): Promise<void> {
    this.#next = undefined
    this.#running = this.#syncOnce().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #syncOnce(): Promise<void> {
    if (this.#failed || this.#closing) throw new Error('a sync of the journal has failed before')
    const end = this.#end
    try {
      await this.#files.datasync(this.#file)
      if (!this.#named) await this.#files.syncDirectory(this.#path)
    } catch (error) {
      this.#failed = true
      throw error
    }
    this.#named = true
    this.#synced = end
  }

  #cut(): void {
    this.#files.truncate(this.#file, this.#end)
    this.#torn = false
  }

  // If the truncation fails too, the next write tries it first.
  #tryToCut(): void {
    try {
      this.#cut()
    } catch {}
  }
}
