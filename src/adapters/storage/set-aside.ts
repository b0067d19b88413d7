import { basename } from 'node:path'
import type { StorageReport } from '../../core/sandboxes/sandboxes.ts'
import type { UnusablePart as Invalid } from '../../core/state/salvage.ts'
import { type Document, recordsIn } from '../../core/state/state.ts'
import { bytesOf } from './document-file.ts'
import { create, errorMessage, type Files } from './files.ts'
import type { GenerationContents, JournalCorrupt } from './journal-format.ts'
import type { EditOutcome, Replaced } from './merge-edit.ts'
import { journalOf, keepBytes, keptName, previousOf } from './names.ts'
import { type OnNotice, type StorageNotice, shortList } from './notice.ts'
import { type FoundState, issueLines } from './state-file.ts'

/** Moves or copies unusable files of one sandbox to names next to them, and reports that. No content is destroyed. */
export class SetAside {
  readonly files: Files
  /** The state file. */
  readonly path: string
  readonly #onNotice: OnNotice
  #invalid: { readonly records: readonly Invalid[]; readonly kept: string } | undefined
  #recovered: { readonly from: string; readonly kept: string } | undefined
  #lastFailure = ''

  constructor(files: Files, path: string, onNotice: OnNotice) {
    this.files = files
    this.path = path
    this.#onNotice = onNotice
  }

  notify(
    level: StorageNotice['level'],
    event: StorageNotice['event'],
    message: string,
    more: { readonly line?: number | undefined; readonly kept?: string | undefined } = {},
  ): void {
    const { line, kept } = more
    this.#onNotice({
      level,
      event,
      message,
      file: this.path,
      ...(line === undefined ? {} : { line }),
      ...(kept === undefined ? {} : { kept }),
    })
  }

  /** A report of content that was set aside at the start; undefined when there was none, or its files have been removed. */
  report(): StorageReport | undefined {
    const isThere = (kept: string | undefined) => kept !== undefined && this.files.stat(kept) !== undefined
    const invalid = isThere(this.#invalid?.kept) ? this.#invalid : undefined
    const recovered = isThere(this.#recovered?.kept) ? this.#recovered : undefined
    if (invalid === undefined && recovered === undefined) return undefined
    return {
      set_aside: invalid?.records.map(({ pointer, reason }) => ({ pointer, reason })) ?? [],
      kept_in: nameOf(invalid?.kept ?? recovered?.kept),
      recovered_from: nameOf(recovered?.from),
    }
  }

  /** Keeps invalid records of the state file and reports them. @param text for line numbers; empty when they are from no file */
  records(records: readonly Invalid[], text: string): void {
    const bytes = Buffer.from(`${JSON.stringify(records, null, 2)}\n`)
    const kept = keepBytes(this.files, this.path, 'invalid', bytes)
    this.#invalid = { records, kept }
    const issues = records.map(({ pointer, reason }) => ({ pointer, detail: reason }))
    const { message, line } = issueLines(this.path, text, issues)
    this.notify(
      'error',
      'records_set_aside',
      `${message}. The invalid records have been moved to ${kept}; everything else is used. Fix the records, write them with PUT /__emulator/state/{collection}/{id} or into ${this.path}, then delete ${kept}.`,
      { line: text === '' ? undefined : line, kept },
    )
  }

  /** Keeps a state file that is not a state document, while the previous checkpoint and the journal contain the state. */
  recovered({ bytes, problem }: FoundState): void {
    const kept = keepBytes(this.files, this.path, 'corrupt', bytes)
    const from = previousOf(this.path)
    this.#recovered = { from, kept }
    this.notify(
      'error',
      'recovered',
      `${problem?.message ?? `${this.path}: it is not a state document`}. The state has been read from ${from} and the journal instead, and the file is written again from them. Its old content is in ${kept}.`,
      { line: problem?.line, kept },
    )
  }

  /** Moves away a state file that is not a state document, with its journal, so that the user can restore both. */
  corruptFile({ problem }: FoundState, generations: readonly GenerationContents[]): void {
    const kept = keptName(this.files, this.path, 'corrupt')
    for (const { path } of generations) this.files.rename(path, kept + path.slice(this.path.length))
    this.files.rename(this.path, kept)
    const hasJournal = generations.length > 0
    this.notify(
      'error',
      'file_corrupt',
      `${problem?.message ?? `${this.path}:1: it is not a state document`}. The file cannot be used and has been moved to ${kept}${hasJournal ? ' (its journal is next to it)' : ''}; the emulator starts from its starting state. To restore it: stop the emulator, fix ${kept}, and move it${hasJournal ? ' and its journal' : ''} back to the old name.`,
      { line: problem?.line ?? 1, kept },
    )
  }

  /** Keeps a copy of a damaged journal. The part before the damage stays in use. */
  corruptJournal(
    { path, offset, message }: JournalCorrupt,
    generations: readonly GenerationContents[],
    revision: number,
  ): void {
    const journal = journalOf(this.path)
    const kept = keptName(this.files, journal, 'corrupt')
    if (offset === 0) this.files.rename(path, kept)
    else this.files.copy(path, kept)
    const later = generations.slice(generations.findIndex((each) => each.path === path) + 1)
    for (const each of later) this.files.rename(each.path, keptName(this.files, journal, 'corrupt'))
    if (offset > 0) this.files.truncatePath(path, offset)
    this.#onNotice({
      level: 'error',
      event: 'journal_corrupt',
      message: `${message}. The sandbox has the state of revision ${revision}, without later changes. The whole journal has been kept as ${kept}.`,
      file: path,
      kept,
    })
  }

  /** Moves files away whose state file is missing, or is not the one that they belong to. */
  orphaned(reason: string, paths: readonly string[]): void {
    const kept = paths.map((path) => {
      // The generations of a journal have their numbers after its name.
      const start = [journalOf(this.path), `${this.path}.log`].find((each) => path.startsWith(each))
      const name = keptName(this.files, start ?? this.path, 'orphaned')
      this.files.rename(path, name)
      return name
    })
    this.notify('error', 'journal_orphaned', `${reason} It has been kept as ${kept.join(' and ')}.`, {
      kept: kept[0],
    })
  }

  editTaken({ written, removed, replaced, kept, notes }: EditOutcome): void {
    const names = replaced.map(({ table, record }) => `${table}/${record.id}`)
    const conflicts =
      replaced.length === 0
        ? []
        : [
            `These records had changed since the file was written, and the edit replaced them: ${shortList(names, ', ')}. Their old content is in ${kept}.`,
          ]
    const counts = `records: ${written} written, ${removed} removed`
    this.notify(
      conflicts.length + notes.length > 0 ? 'warn' : 'info',
      'edit_taken',
      [`The edit of ${this.path} has been applied (${counts}).`, ...conflicts, ...notes].join(' '),
      { kept },
    )
  }

  wentBack(document: Document, isUnedited: boolean, kept: string): void {
    const { revision } = document
    const what = isUnedited
      ? `${this.path} was replaced by the unedited state file of revision ${revision}: the sandbox now has that state`
      : `${this.path} was edited or replaced while the emulator was not running, and its revision (${revision}) is not known: the file is used unchanged`
    this.notify(
      'warn',
      'went_back',
      `${what} (records: ${recordsIn(document)}). The state that it replaces is in ${kept}; copy that over ${this.path} to restore it.`,
      { kept },
    )
  }

  /** Keeps and reports an edit that is refused. False when it could not be kept. */
  refuseEdit(
    bytes: Buffer,
    reason: string,
    line?: number,
    wayOut: (kept: string) => string = (_kept) => `fix it there and copy it over ${this.path}`,
  ): boolean {
    try {
      const kept = this.#keep('rejected', bytes)
      this.notify(
        'error',
        'edit_refused',
        `The edit has been refused; the sandbox has not changed. ${reason}. The edited text is in ${kept}: ${wayOut(kept)}.`,
        { line, kept },
      )
      return true
    } catch (error) {
      const message = `An edit of ${this.path} can neither be applied nor saved: ${errorMessage(error)}. No checkpoint overwrites it; changes go to the journal.`
      // While the disk fails, the edit is tried again every second, but the same message is reported only once.
      if (message !== this.#lastFailure) this.notify('error', 'edit_refused', message)
      this.#lastFailure = message
      return false
    }
  }

  /** Keeps records that an edit is about to replace. @returns the name of the file */
  keepReplaced(records: readonly Replaced[]): string {
    return this.#keep('replaced', Buffer.from(`${JSON.stringify({ replaced: records }, null, 2)}\n`))
  }

  /** Keeps a whole state as a file that can be copied back. @returns the name of the file */
  keepState(document: Document): string {
    return this.#keep('replaced', bytesOf(document))
  }

  #keep(word: string, bytes: Uint8Array): string {
    const kept = keptName(this.files, this.path, word)
    create(this.files, kept, bytes)
    return kept
  }
}

// The health endpoint, which needs no token, must not name the folders of this machine.
function nameOf(path: string | undefined): string | null {
  return path === undefined ? null : basename(path)
}
