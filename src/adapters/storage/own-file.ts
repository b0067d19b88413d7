import { type Document, recordsIn } from '../../core/state/state.ts'
import { digestOf } from './document-file.ts'
import { type FileStat, type Files, hasCode, sameStat } from './files.ts'
import type { FoundState } from './state-file.ts'

/** Bytes of memory for earlier documents, which tell what an edit of an older file has changed. */
const BASE_BYTES = 8 * 1024 * 1024
/** Bytes of a record that is the same in the next document: the documents share it. */
const REFERENCE = 8

/** A file that a checkpoint has replaced, still open: an editor that opened it before may write into it. */
interface Former {
  readonly file: number
  readonly stat: FileStat
  readonly sha256: string
}

/** A checkpoint that has become the state file. */
export interface Written {
  readonly stat: FileStat
  /** SHA-256 of its bytes, in hexadecimal digits. */
  readonly sha256: string
  /** An open descriptor, which the receiver closes. */
  readonly file: number
}

/** The state file as it was when it was last written or read. Any other content under that name is an edit. */
export class OwnFile {
  readonly path: string
  readonly #files: Files
  /** By revision, the last written or read one at the end. */
  readonly #bases = new Map<number, { readonly document: Document; readonly size: number }>()
  #stat: FileStat | undefined
  #sha256 = ''
  #next: string | undefined
  #isCheckpoint = false
  #checkpoint: number | undefined
  #previous: number | undefined
  #file: number | undefined
  #formers: Former[] = []
  #bytes = 0

  constructor(files: Files, path: string) {
    this.#files = files
    this.path = path
  }

  /** Whether the file is a checkpoint; otherwise it is an edit that has been taken. */
  get isCheckpoint(): boolean {
    return this.#isCheckpoint
  }

  /** The revision of the last checkpoint; undefined before the first. */
  get checkpoint(): number | undefined {
    return this.#checkpoint
  }

  /** The revision of the previous checkpoint; undefined where it is not known. */
  get previous(): number | undefined {
    return this.#previous
  }

  /** The content of the file at this revision; undefined when it is not remembered. */
  documentAt(revision: number): Document | undefined {
    return this.#bases.get(revision)?.document
  }

  /** Sets the file that was there at the start. @param isCheckpoint whether the emulator wrote it, and it was not edited */
  read({ stat, sha256, raw }: FoundState, isCheckpoint: boolean): void {
    this.#stat = stat
    this.#sha256 = sha256
    this.#isCheckpoint = isCheckpoint
    this.#hold()
    const document = raw as Document | undefined
    if (isCheckpoint) this.#checkpoint = document?.revision
    if (document !== undefined) this.remember(document, stat.size)
  }

  setPrevious(previous: number): void {
    this.#previous = previous
  }

  /** Whether the file with this digest was written by the emulator last, or has been taken. */
  isKnown(sha256: string): boolean {
    return this.#sha256 === sha256 || this.#next === sha256
  }

  /** A checkpoint is about to become the state file. It may be there even if the renaming fails. */
  expects(sha256: string): void {
    this.#next = sha256
  }

  /** An edit of the file has been taken. */
  taken(stat: FileStat, document: Document, sha256: string): void {
    this.#sha256 = sha256
    this.#isCheckpoint = false
    this.remember(document, stat.size)
    this.seen(stat)
  }

  /**
   * A checkpoint has become the state file.
   * @param growth bytes that it contains and the checkpoint before it lacks
   * @param hasPrevious whether the checkpoint before it is the previous one now
   */
  written({ file, stat, sha256 }: Written, document: Document, growth: number, hasPrevious: boolean) {
    if (this.#file !== undefined && this.#stat !== undefined) {
      this.#formers.push({ file: this.#file, stat: this.#stat, sha256: this.#sha256 })
    }
    if (hasPrevious) this.#previous = this.#checkpoint
    this.#file = file
    this.#stat = stat
    this.#sha256 = sha256
    this.#next = undefined
    this.#isCheckpoint = true
    this.#checkpoint = document.revision
    this.remember(document, growth + recordsIn(document) * REFERENCE)
  }

  /** An edit has been taken or refused, or the same bytes have been written again. */
  seen(stat: FileStat): void {
    if (this.#file === undefined || this.#files.statOf(this.#file).inode !== stat.inode) this.#hold()
    // Last: if the above fails, the file is looked at again, and its content is known.
    this.#stat = stat
  }

  /** The metadata of a file that has changed; `missing` when it has been removed; undefined when nothing has changed. */
  news(): FileStat | 'missing' | undefined {
    const stat = this.#files.stat(this.path)
    if (stat === undefined) return this.#stat === undefined ? undefined : 'missing'
    return this.#stat !== undefined && sameStat(stat, this.#stat) ? undefined : stat
  }

  /** The file has been removed, and that has been reported. */
  gone(): void {
    this.#stat = undefined
    this.#release()
  }

  /**
   * The contents that editors have written into files after checkpoints replaced them. The files are closed.
   * @param failed called for a file that cannot be read
   */
  leftovers(failed: (error: unknown) => void): Buffer[] {
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

  #writtenInto({ file, stat, sha256 }: Former): Buffer[] {
    try {
      const now = this.#files.statOf(file)
      if (now.size === stat.size && now.modified === stat.modified) return []
      const bytes = wholeOf(this.#files, file, now.size)
      return digestOf(bytes).sha256 === sha256 ? [] : [bytes]
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
      // Replaced once more in this moment: the next look finds that.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }

  #release(): void {
    if (this.#file !== undefined) this.#files.close(this.#file)
    this.#file = undefined
  }

  /** Remembers a document, and forgets the oldest ones when they need too much memory. @param size bytes that it shares with no other */
  remember(document: Document, size: number): void {
    this.#forget(document.revision)
    this.#bases.set(document.revision, { document, size })
    this.#bytes += size
    for (const revision of this.#bases.keys()) {
      if (this.#bytes <= BASE_BYTES || this.#bases.size === 1) return
      this.#forget(revision)
    }
  }

  #forget(revision: number): void {
    this.#bytes -= this.#bases.get(revision)?.size ?? 0
    this.#bases.delete(revision)
  }
}

function wholeOf(files: Files, file: number, size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let at = 0
  for (let read = -1; read !== 0 && at < size; at += read) read = files.readInto(file, bytes.subarray(at), at)
  return bytes.subarray(0, at)
}
