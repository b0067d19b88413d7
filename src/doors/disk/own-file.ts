import type { Document } from '../../kernel/state/state.ts'
import type { Written } from './adapter.ts'
import { type FileStat, type Files, hasCode, sameStat } from './files.ts'
import type { Base } from './log-format.ts'

/** As many earlier documents are remembered, to tell what an edit of an older file has changed. */
const BASES = 8
/** And no more of them than this many bytes of file. */
const BASE_BYTES = 64 * 1024 * 1024

/** A file that ours has replaced, still open: an editor that had opened it before may write into it. */
interface Former {
  readonly file: number
  readonly stat: FileStat
}

/**
 * What the emulator knows of its state file: how it looked when it was last written or read, and what it said then. Anything
 * else under that name is somebody's edit.
 */
export class OwnFile {
  readonly path: string
  readonly #files: Files
  readonly #bases = new Map<number, { readonly document: Document; readonly size: number }>()
  #stat: FileStat | undefined
  #base: Base | undefined
  #says = ''
  #file: number | undefined
  #formers: Former[] = []

  constructor(files: Files, path: string) {
    this.#files = files
    this.path = path
  }

  /** The state file that stands on the disk; undefined before the first. */
  get base(): Base | undefined {
    return this.#base
  }

  /** The document that the emulator wrote with this revision, or the last one that it wrote or read. */
  documentAt(revision: number): { readonly document: Document; readonly exact: boolean } | undefined {
    const found = this.#bases.get(revision)
    if (found !== undefined) return { document: found.document, exact: true }
    const last = [...this.#bases.values()].at(-1)
    return last && { document: last.document, exact: false }
  }

  /** A file that was there at the start has been read. */
  read(stat: FileStat, base: Base, document: Document): void {
    this.#stat = stat
    this.#base = base
    this.#says = base.sha256
    this.#hold()
    this.#remember(document, stat.size)
  }

  /** Whether these are the bytes that the world has last been written to or taken from. */
  says(sha256: string): boolean {
    return this.#says === sha256
  }

  /** An edit of the file has been taken: from now on this is what the file is known to say. */
  taken(stat: FileStat, document: Document, sha256: string): void {
    this.#says = sha256
    this.#remember(document, stat.size)
    this.seen(stat)
  }

  /** A checkpoint has taken the file's place. */
  written({ file, stat, revision, sha256 }: Written, document: Document): void {
    if (this.#file !== undefined && this.#stat !== undefined) {
      this.#formers.push({ file: this.#file, stat: this.#stat })
    }
    this.#file = file
    this.#stat = stat
    this.#base = { revision, sha256 }
    this.#says = sha256
    this.#remember(document, stat.size)
  }

  /** An edit has been dealt with, or the same bytes have been written again: this look of the file is no news any more. */
  seen(stat: FileStat): void {
    if (this.#file === undefined || this.#files.statOf(this.#file).inode !== stat.inode) this.#hold()
    // Last: where that fails, the file is news again, and known by what it says.
    this.#stat = stat
  }

  /** How the file looks now when that is news; `missing` when there is none although there was. */
  news(): FileStat | 'missing' | undefined {
    const stat = this.#files.stat(this.path)
    if (stat === undefined) return this.#stat === undefined ? undefined : 'missing'
    return this.#stat !== undefined && sameStat(stat, this.#stat) ? undefined : stat
  }

  /** The file is gone, and that has been said. */
  gone(): void {
    this.#stat = undefined
    this.#release()
  }

  /**
   * The contents that editors have written into files after ours replaced them. Each is told once; the files are let go.
   * @param failed hears of one that cannot be looked at
   */
  strays(failed: (error: unknown) => void): Buffer[] {
    const formers = this.#formers
    this.#formers = []
    return formers.flatMap((former) => {
      try {
        return this.#writtenInto(former)
      } catch (error) {
        failed(error)
        return []
      }
    })
  }

  #writtenInto({ file, stat }: Former): Buffer[] {
    try {
      const now = this.#files.statOf(file)
      const written = now.size !== stat.size || now.modified !== stat.modified
      return written ? [wholeOf(this.#files, file, now.size)] : []
    } finally {
      this.#files.close(file)
    }
  }

  get hasFormers(): boolean {
    return this.#formers.length > 0
  }

  close(): void {
    for (const { file } of this.#formers) this.#files.close(file)
    this.#formers = []
    this.#release()
  }

  #hold(): void {
    this.#release()
    try {
      this.#file = this.#files.open(this.path, 'r')
    } catch (error) {
      // Replaced once more in this moment: that will be news.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }

  #release(): void {
    if (this.#file !== undefined) this.#files.close(this.#file)
    this.#file = undefined
  }

  #remember(document: Document, size: number): void {
    this.#bases.delete(document.revision)
    this.#bases.set(document.revision, { document, size })
    let bytes = [...this.#bases.values()].reduce((sum, each) => sum + each.size, 0)
    for (const [revision, { size }] of this.#bases) {
      if (this.#bases.size === 1 || (this.#bases.size <= BASES && bytes <= BASE_BYTES)) return
      this.#bases.delete(revision)
      bytes -= size
    }
  }
}

function wholeOf(files: Files, file: number, size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let at = 0
  for (let read = -1; read !== 0 && at < size; at += read) read = files.readInto(file, bytes.subarray(at), at)
  return bytes.subarray(0, at)
}
