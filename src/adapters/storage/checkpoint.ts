import { dirname } from 'node:path'
import { type Adapter, Low } from 'lowdb'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { wakesAt } from '../../core/sandboxes/sandbox.ts'
import type { Document } from '../../core/state/state.ts'
import { hostTime } from '../../core/time/clock.ts'
import { writeDocument } from './document-file.ts'
import type { Edits } from './edits.ts'
import { type Files, hasCode } from './files.ts'
import type { JournalWriter } from './journal.ts'
import { previousOf, temporary } from './names.ts'
import type { OwnFile } from './own-file.ts'
import { findState } from './state-file.ts'

/** Maximum tries of a checkpoint. If the file is edited during a try, the edit is applied and the next try begins. */
const MAX_EDITS = 10

/** Thrown when the file was edited while its checkpoint was being written. */
class Overtaken extends Error {}

interface WriterOptions {
  readonly files: Files
  readonly own: OwnFile
  readonly journal: JournalWriter
  readonly sandbox: Sandbox
  readonly edits: Pick<Edits, 'done' | 'pending' | 'dealtWith'>
}

/**
 * Writes checkpoints; the adapter of lowdb. A crash after any step leaves a state file, and a journal with the commits that
 * the file lacks. The steps:
 * 1. Begin a new generation of the journal.
 * 2. Write a temporary file next to the old one, record by record, so that the event loop turns during a large state.
 * 3. Write its digest to the journal.
 * 4. Rename it to the state file. The old file becomes the previous checkpoint.
 * 5. Remove generations that even the previous checkpoint does not need.
 */
export class CheckpointWriter implements Adapter<Document> {
  readonly #options: WriterOptions
  /** Bytes in the journal that the document contains and the checkpoint before it lacks. */
  #growth = 0
  /** The number of edits that were handled before the state was copied. */
  #dealtWith = 0
  #isAbandoned = false

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Applies pending edits, then writes a checkpoint. @returns the milliseconds that it took */
  async checkpoint(): Promise<number> {
    const { files, own, journal, sandbox, edits } = this.#options
    for (let tries = 0; tries < MAX_EDITS; tries++) {
      await edits.done()
      const started = hostTime()
      try {
        files.makeDirectory(dirname(own.path))
        const document = withWakeTime(sandbox)
        this.#growth = journal.size
        journal.begin(document.revision, own.checkpoint)
        this.#dealtWith = edits.dealtWith
        await new Low<Document>(this, document).write()
        journal.removeBefore(own.previous)
        return Math.max(0, hostTime() - started)
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
      }
    }
    throw new Error(`${own.path} is edited continuously`)
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned
  }

  /** Aborts the checkpoint in progress, which then rejects. The old file stays, and the journal has every change. */
  abandon(): void {
    this.#isAbandoned = true
  }

  async read(): Promise<Document | null> {
    const found = findState(this.#options.files, this.#options.own.path)
    if (found?.problem !== undefined) throw found.problem
    return found === undefined ? null : (found.raw as Document)
  }

  async write(document: Document): Promise<void> {
    const { files, own, journal } = this.#options
    const path = temporary(own.path)
    const file = files.open(path, 'wx')
    try {
      const sha256 = await writeDocument(files, file, document, () => this.#throwIfAbandoned())
      await files.sync(file)
      await journal.expect(sha256)
      own.expects(sha256)
      this.#throwIfAbandoned()
      this.#throwIfEdited()
      const whole = files.statOf(file)
      const hasPrevious = this.#place(path)
      const placed = files.statOf(file)
      // An editor may write into the file as soon as it is renamed. Then the older metadata shows that it has changed.
      const isEdited = placed.size !== whole.size || placed.modified !== whole.modified
      own.written({ file, stat: isEdited ? whole : placed, sha256 }, document, this.#growth, hasPrevious)
      journal.checkpointed(sha256)
    } catch (error) {
      discard(files, path, file)
      throw error
    }
    await files.syncDirectory(own.path)
  }

  #throwIfAbandoned(): void {
    if (this.#isAbandoned) throw new Error('the checkpoint was abandoned')
  }

  // This includes an edit that has already been applied, because the copy of the state is older.
  #throwIfEdited(): void {
    const { pending, dealtWith } = this.#options.edits
    if (pending || dealtWith !== this.#dealtWith) throw new Overtaken()
  }

  // The old file gets a second name before it is replaced, so that there is a state file at every moment.
  #place(path: string): boolean {
    const { files, own } = this.#options
    const old = own.isCheckpoint ? linkOld(files, own.path) : undefined
    try {
      files.rename(path, own.path)
    } catch (error) {
      if (old !== undefined) files.remove(old)
      throw error
    }
    return old !== undefined && makePrevious(files, own.path, old)
  }
}

/** Makes a copy of the state file the previous checkpoint. False when that fails. */
export function copyToPrevious(files: Files, path: string): boolean {
  const copy = temporary(path)
  try {
    files.copy(path, copy)
  } catch {
    return false
  }
  return makePrevious(files, path, copy)
}

/** False when it fails: then the previous checkpoint and the journal that continues it stay as they were. */
function makePrevious(files: Files, path: string, old: string): boolean {
  try {
    files.rename(old, previousOf(path))
    return true
  } catch {
    return false
  }
}

/** Gives a state file a second name, or copies it where the file system has no links. Undefined when there is no file. */
function linkOld(files: Files, path: string): string | undefined {
  const old = temporary(path)
  try {
    files.link(path, old)
    return old
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error
  }
  files.copy(path, old)
  return old
}

// The caller reports the failure. A temporary file that stays is removed at the next start.
function discard(files: Files, path: string, file: number): void {
  try {
    files.close(file)
    files.remove(path)
  } catch {}
}

// `wakes_at` is among the first fields, so that a start only needs to read the first bytes of the file.
function withWakeTime(sandbox: Sandbox): Document {
  const { format, revision, sandbox: name, ...rest } = sandbox.document()
  const head = { format, revision, sandbox: name, wakes_at: wakesAt(sandbox) }
  return { ...head, ...rest }
}
