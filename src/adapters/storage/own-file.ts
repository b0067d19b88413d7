import { type Document, recordsIn } from '../../core/state/state.ts'
import { digestOf } from './document-file.ts'
import { type FileStat, type Files, hasCode, sameStat } from './files.ts'
import type { FoundState } from './state-file.ts'

/** Maximum bytes of memory for earlier documents. An edit of an older file is compared with them. */
const BASE_BYTES = 8 * 1024 * 1024
/** Bytes for a record that is the same in the next document: only a reference, because both documents share it. */
const REFERENCE = 8

/** A file that a checkpoint has replaced. It is still open, because an editor that opened it before may write into it. */
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
  /** An open file descriptor. The receiver of this object closes it. */
  readonly file: number
}

/** The state file as it was when it was last written or read. Any other content under that name is an edit. */
export class OwnFile {
  readonly path: string
  readonly #files: Files
  /** Documents by revision. The last written or read one is at the end. */
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

  /** Whether the file is a checkpoint; otherwise it is an edit that has been applied. */
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

  /** The content of the file at this revision; undefined when it is no longer in memory. */
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

  /** Whether the emulator has written or applied the file with this digest last, or is about to write it. */
  isKnown(sha256: string): boolean {
    return this.#sha256 === sha256 || this.#next === sha256
  }

  /** Announces a checkpoint that is about to become the state file. It may be in place even if the rename reports an error. */
  expects(sha256: string): void {
    this.#next = sha256
  }

  /** Records that an edit of the file has been applied. */
  taken(stat: FileStat, document: Document, sha256: string): void {
    this.#sha256 = sha256
    this.#isCheckpoint = false
    this.remember(document, stat.size)
    this.seen(stat)
  }

  /**
   * Records that a checkpoint has become the state file.
   * @param growth bytes that it contains and the previous checkpoint does not
   * @param hasPrevious whether the replaced checkpoint is kept as the previous one
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

  /** Records the metadata of a file whose content has been applied or refused, or is unchanged. */
  seen(stat: FileStat): void {
    if (this.#file === undefined || this.#files.statOf(this.#file).inode !== stat.inode) this.#hold()
    // Set last: if the lines above fail, the file is checked again, and its content is already known.
    this.#stat = stat
  }

  /** The metadata of a file that has changed; `missing` when it has been removed; undefined when nothing has changed. */
  news(): FileStat | 'missing' | undefined {
    const stat = this.#files.stat(this.path)
    if (stat === undefined) return this.#stat === undefined ? undefined : 'missing'
    return this.#stat !== undefined && sameStat(stat, this.#stat) ? undefined : stat
  }

  /** Records that the removal of the file has been reported. */
  gone(): void {
    this.#stat = undefined
    this.#release()
  }

  /**
   * Returns the contents that editors wrote into files after checkpoints had replaced them, and closes these files.
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
      // The file was removed or replaced at this moment. The next check detects that.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }

  #release(): void {
    if (this.#file !== undefined) this.#files.close(this.#file)
    this.#file = undefined
  }

  /**
   * Keeps a document in memory, and drops the oldest ones above {@link BASE_BYTES}.
   * @param size bytes that it does not share with other documents
   */
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
