import { type Files, writeAll } from './files.ts'

/** One file of a log, open for writing at its end. */
export class Generation {
  readonly #files: Files
  readonly #path: string
  readonly #file: number
  #end = 0
  #torn = false
  #synced = 0
  #named = false
  #failed = false
  #closing = false
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** A new file under this path, which is not its last one: `lastPath` names the directory that the entry will stand in. */
  constructor(files: Files, path: string, lastPath: string) {
    this.#files = files
    this.#path = lastPath
    this.#file = files.open(path, 'wx')
  }

  /** Bytes written. */
  get end(): number {
    return this.#end
  }

  /** Whether a sync has failed. It is never tried again: the system may have dropped what it could not write, and say nothing the second time. */
  get failed(): boolean {
    return this.#failed
  }

  /** Writes a line whole, or throws and leaves nothing of it. */
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

  /** Resolves when everything written before the call is on the disk itself. One sync at a time serves everybody who waits. */
  sync(): Promise<void> {
    if (this.#synced === this.#end && this.#named && !this.#failed) return Promise.resolve()
    if (this.#running === undefined) return this.#start()
    // The one under way may have begun before the last line; the next one covers all who come meanwhile.
    this.#next ??= this.#running.catch(() => {}).then(() => this.#running ?? this.#start())
    return this.#next
  }

  /** Whether this very file stands under the path. */
  isAt(path: string): boolean {
    return this.#files.stat(path)?.inode === this.#files.statOf(this.#file).inode
  }

  /** Closes the file, after the sync that may be under way. */
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
    if (this.#failed || this.#closing) throw new Error('a sync of the log has failed before')
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

  // When even cutting fails, the next write tries it first.
  #tryToCut(): void {
    try {
      this.#cut()
    } catch {}
  }
}
