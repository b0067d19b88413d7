import { isStorageFailure, Refusal } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { loadDocument } from '../../core/sandboxes/change.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Commit } from '../../core/state/commit.ts'
import type { Cancel, Later } from '../../core/time/realtime.ts'
import { attempt, errorMessage, type FileStat, type Files, replace } from './files.ts'
import type { JournalWriter } from './journal.ts'
import { digestOf } from './journal-format.ts'
import { refusedOf } from './names.ts'
import type { OnNotice, StorageNotice } from './notice.ts'
import { issuesError, parseState, type StateFile, UnusableState } from './state-file.ts'

/** How often a text that is not JSON is read again before it is refused: it may be half saved. */
const MAX_TRIES = 3
/** Milliseconds between two looks at the file. */
const WATCH_INTERVAL = 250

interface EditsOptions {
  readonly files: Files
  readonly file: StateFile
  readonly journal: JournalWriter
  readonly sandbox: Sandbox
  readonly later: Later
  readonly onNotice: OnNotice
  /** The command that replaces the state by the content of a file. */
  readonly importCommand: (path: string) => string
  /** Called when the file differs from the state, and may be overwritten. */
  readonly onHandled: () => void
}

/** Content of the file that was neither written nor accepted. */
interface Edit {
  readonly bytes: Buffer
  readonly digest: string
  readonly stat: FileStat
}

/** `pending`: an edit waits, and the file must not be overwritten. */
type Look = 'unchanged' | 'handled' | 'pending'

/**
 * Finds edits of the state file, and applies or refuses them. They are recognised by the content of the file, never by the time
 * of the change. The file is polled: that also works on mounted directories, which report no events.
 */
export class Edits {
  readonly #options: EditsOptions
  #cancel: Cancel | undefined
  #tries = 0
  #lastDigest = ''
  #lastFailure = ''

  constructor(options: EditsOptions) {
    this.#options = options
  }

  /** Looks at the file again and again until {@link close}. */
  watch(): void {
    this.#cancel = this.#options.later(WATCH_INTERVAL, () => {
      this.#tries += 1
      this.#lookAndHandle()
      this.watch()
    })
  }

  close(): void {
    this.#cancel?.()
  }

  /**
   * Applies or refuses the edit in the file, if there is one.
   * @param isLast no later look follows: an edit that would have to wait is refused
   */
  look(isLast = false): Look {
    const { file } = this.#options
    const edit = this.#read()
    if (edit === undefined) return 'unchanged'
    if (edit === 'missing') return this.#removed()
    const { digest, stat } = edit
    if (file.isCurrent(digest)) {
      file.accept(digest, stat)
      return 'unchanged'
    }
    if (digest !== this.#lastDigest) this.#tries = 0
    this.#lastDigest = digest
    return this.#deal(edit, isLast)
  }

  /** Refuses the edit in the file, if there is one, because the file has to be written at once. */
  refuse(reason: string): void {
    const edit = this.#read()
    if (edit === undefined || edit === 'missing') return
    if (!this.#options.file.isCurrent(edit.digest)) this.#refuse(edit, reason)
  }

  #read(): Edit | 'missing' | undefined {
    const { file, files } = this.#options
    const stat = file.news()
    if (stat === undefined || stat === 'missing') return stat
    const bytes = files.read(file.path)
    return bytes === undefined ? 'missing' : { bytes, digest: digestOf(bytes), stat }
  }

  #lookAndHandle(): void {
    try {
      if (this.look() === 'handled') this.#options.onHandled()
    } catch (error) {
      this.#reportOnce('watch_failed', `${this.#options.file.path} cannot be read: ${errorMessage(error)}.`)
    }
  }

  #deal(edit: Edit, isLast: boolean): Look {
    const { file, sandbox } = this.#options
    try {
      const { document, text } = parseState(file.path, edit.bytes)
      if (sandbox.advances.running === 'advance' && !isLast) return 'pending'
      return this.#take(edit, document, text)
    } catch (error) {
      if (isStorageFailure(error) && !isLast) return this.#fail(error)
      if (!(error instanceof UnusableState)) return this.#refuse(edit, errorMessage(error))
      const mayBeHalf = error.isSyntax && this.#tries < MAX_TRIES && !isLast
      return mayBeHalf ? 'pending' : this.#refuse(edit, error.message, error)
    }
  }

  #take({ digest, stat }: Edit, document: unknown, text: string): Look {
    const { file, journal, sandbox } = this.#options
    const revision = isObject(document) ? Number(document.revision) : Number.NaN
    if (file.isWritten(digest) && revision >= sandbox.content.revision) {
      file.accept(digest, stat)
      return 'handled'
    }
    const commit = this.#load(document, revision, text)
    // The next save from the same editor is an edit of the same revision, and contains this one.
    sandbox.content.accept(revision)
    file.accept(digest, stat)
    // After a kill before the next checkpoint, this commit is replayed on the edited file: it may also move the clock.
    const last = commit === undefined ? sandbox.store.revision : commit.revision - 1
    // The checkpoint that follows writes the file again; if it fails too, it is reported.
    attempt(() => journal.name({ file: digest, revision: last }))
    this.#report('info', 'edit_taken', `The edit of ${file.path} has been applied.`)
    return 'handled'
  }

  #load(document: unknown, revision: number, text: string): Commit | undefined {
    try {
      return loadDocument(this.#options.sandbox, document, revision)
    } catch (error) {
      const issues = error instanceof Refusal ? error.options.issues : undefined
      throw issues === undefined ? error : issuesError(this.#options.file.path, text, issues)
    }
  }

  /** Keeps the edited text in another file. */
  #refuse({ bytes, digest, stat }: Edit, reason: string, invalid?: UnusableState): Look {
    const { files, file, importCommand } = this.#options
    let kept: string
    try {
      kept = refusedOf(files, file.path, bytes)
      replace(files, kept, bytes)
    } catch (error) {
      return this.#fail(error)
    }
    file.accept(digest, stat)
    const message = `The edit of ${file.path} has been refused; the sandbox has not changed, and the file is written again. ${reason.replace(/\.$/, '')}. The edited text is in ${kept}. ${invalid === undefined ? 'To apply it anyway' : 'Fix it there, then apply it'}: ${importCommand(kept)}`
    const line = invalid?.line
    this.#report('error', 'edit_refused', message, { kept, ...(line === undefined ? {} : { line }) })
    return 'handled'
  }

  #fail(error: unknown): Look {
    const { path } = this.#options.file
    const message = `An edit of ${path} can neither be applied nor kept: ${errorMessage(error)}. It is tried again, and no checkpoint overwrites it.`
    this.#reportOnce('edit_refused', message)
    return 'pending'
  }

  // It is tried several times a second, but the same message is reported only once.
  #reportOnce(event: StorageNotice['event'], message: string): void {
    if (message !== this.#lastFailure) this.#report('error', event, message)
    this.#lastFailure = message
  }

  #removed(): Look {
    const { file } = this.#options
    file.accept(undefined, undefined)
    const message = `${file.path} has been removed. The sandbox is in memory, and the file is written again; to start again, use reset, or stop the emulator and then remove the file.`
    this.#report('warn', 'file_removed', message)
    return 'handled'
  }

  #report(
    level: StorageNotice['level'],
    event: StorageNotice['event'],
    message: string,
    more: Pick<StorageNotice, 'line' | 'kept'> = {},
  ): void {
    this.#options.onNotice({ level, event, message, file: this.#options.file.path, ...more })
  }
}
