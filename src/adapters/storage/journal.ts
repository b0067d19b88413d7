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
  /** Lines that wait for the next write. */
  #held: Uint8Array[] = []

  constructor(options: JournalOptions) {
    this.#options = options
  }

  get path(): string {
    return this.#options.path
  }

  /**
   * Writes the line of a commit with those that are held. If that fails, throws `storage_unavailable`, leaves no part of them and
   * holds none. The next call tries again.
   */
  append(commit: Commit, isHeld = false): void {
    // A lost journal is replaced together with the file, which must not contain commits whose write may yet fail.
    if (this.#held.length === 0) this.#onDisk(() => this.#replaceIfLost())
    // Outside of `#onDisk`: a value that cannot be written as JSON is not a failure of the disk.
    const line = encodeLine(commitLine(commit))
    if (isHeld) this.#held.push(Buffer.from(line))
    else this.#onDisk(() => this.#writeWithHeld(line))
  }

  /** Writes the lines that are held. Fails as {@link append} does. */
  flush(): void {
    this.#onDisk(() => this.#writeWithHeld())
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
  #replaceIfLost(): void {
    if (this.#isChecked) return
    this.#isChecked = true
    real
      .setImmediate(() => {
        this.#isChecked = false
      })
      .unref()
    if ((this.#options.files.sizeAt(this.path, this.#inode) ?? -1) >= this.#end) return
    this.#isChecked = false
    this.#options.onLost()
  }

  #writeWithHeld(...more: Uint8Array[]): void {
    const [first, ...others] = [...this.#held.splice(0), ...more]
    if (first !== undefined) this.#write(others.length === 0 ? first : Buffer.concat([first, ...others]))
  }

  #onDisk(work: () => void): void {
    try {
      work()
    } catch (error) {
      // A refusal from the lock of the folder already names its reason.
      if (error instanceof Refusal) throw error
      refuse('storage_unavailable', { detail: `${this.path} could not be written: ${errorMessage(error)}.` })
    }
  }

  /** Writes whole lines, or throws and leaves no part of them. */
  #write(lines: Uint8Array): void {
    const { files } = this.#options
    if (this.#file === undefined) throw new Error('the state file is closed')
    if (this.#isTorn) files.truncate(this.#file, this.#end)
    this.#isTorn = false
    try {
      writeAll(files, this.#file, lines, this.#end)
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
    this.#end += lines.length
  }
}
