import { Refusal, refuse } from '../../core/errors.ts'
import type { Commit, Journal } from '../../core/state/commit.ts'
import { real } from '../../core/time/real.ts'
import { errorMessage, type Files, replace, writeAll } from './files.ts'
import { commitLine, encodeLine, headerLine, type KnownFile } from './journal-format.ts'

interface JournalOptions {
  readonly files: Files
  readonly path: string
  /** Called when another program has removed, replaced or truncated the journal. Writes the state and begins a new journal. */
  readonly onLost: () => void
}

/**
 * The append-only journal of one sandbox. It names the state file that its commits continue. A checkpoint first writes a line
 * that names the new file, then renames the file, then begins a new journal: so after a crash at any step, the file that is
 * there is named, and commits that it already contains are skipped.
 */
export class JournalWriter implements Journal {
  readonly #options: JournalOptions
  #file: number | undefined
  #inode = 0
  #end = 0
  #isTorn = false
  #isChecked = false

  constructor(options: JournalOptions) {
    this.#options = options
  }

  get path(): string {
    return this.#options.path
  }

  /** Writes one line. If that fails, throws `storage_unavailable` and leaves no part of it. The next call tries again. */
  append(commit: Commit): void {
    // Outside of the try block: a value that cannot be written as JSON is not a failure of the disk.
    const line = encodeLine(commitLine(commit))
    try {
      // `onLost` encodes lines of its own into the same buffer.
      this.#write(this.#isLost() ? this.#replaced(commit) : line)
    } catch (error) {
      // A refusal from the lock of the folder already names its reason.
      if (error instanceof Refusal) throw error
      refuse('storage_unavailable', { detail: `${this.path} could not be written: ${errorMessage(error)}.` })
    }
  }

  /** Records that a state file is about to get its name, or that its edit has been applied. */
  name(known: KnownFile): void {
    this.#write(encodeLine(known))
  }

  /** Replaces the journal by one without commits, which continues this file. */
  begin(known: KnownFile): void {
    const { files, path } = this.#options
    const header = encodeLine(headerLine(known))
    replace(files, path, header)
    this.#use(files.open(path, 'r+'), header.length)
  }

  /** Continues the journal of an earlier process. @param end its length in bytes, without a torn line */
  continue(end: number): void {
    const { files, path } = this.#options
    this.#use(files.open(path, 'r+'), end)
    this.#isTorn = true
  }

  close(): void {
    if (this.#file !== undefined) this.#options.files.close(this.#file)
    this.#file = undefined
  }

  #use(file: number, end: number): void {
    this.close()
    this.#file = file
    this.#end = end
    this.#isTorn = false
    // A number: creating BigInts takes longer, and this is compared before commits.
    this.#inode = Number(this.#options.files.statOf(file).inode)
  }

  // Once in a turn of the event loop: a look at the file takes as long as writing a line.
  #isLost(): boolean {
    if (this.#isChecked) return false
    this.#isChecked = true
    real
      .setImmediate(() => {
        this.#isChecked = false
      })
      .unref()
    return (this.#options.files.sizeAt(this.path, this.#inode) ?? -1) < this.#end
  }

  #replaced(commit: Commit): Uint8Array {
    this.#isChecked = false
    this.#options.onLost()
    return encodeLine(commitLine(commit))
  }

  /** Writes a whole line, or throws and leaves no part of it. */
  #write(line: Uint8Array): void {
    const { files } = this.#options
    if (this.#file === undefined) throw new Error('the state file is closed')
    if (this.#isTorn) files.truncate(this.#file, this.#end)
    this.#isTorn = false
    try {
      writeAll(files, this.#file, line, this.#end)
    } catch (error) {
      this.#isTorn = true
      try {
        files.truncate(this.#file, this.#end)
        this.#isTorn = false
      } catch {
        // The next write truncates first.
      }
      throw error
    }
    this.#end += line.length
  }
}
