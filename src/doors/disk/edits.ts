import { Refusal } from '../../kernel/errors.ts'
import type { Issue } from '../../kernel/json.ts'
import { checkDocument } from '../../kernel/state/document.ts'
import type { Document, WorldState } from '../../kernel/state/state.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import type { Later } from '../realtime.ts'
import { parseState, StateFileSyntax, sha256, textOf } from './adapter.ts'
import { adoption } from './adoption.ts'
import { applyEdit, type EditOutcome, EditRefused, type Replaced } from './apply-edit.ts'
import { create, type FileStat, type Files, reasonOf } from './files.ts'
import { issueLines } from './issue-lines.ts'
import type { Log } from './log.ts'
import { keptName } from './names.ts'
import type { OnNotice } from './notice.ts'
import type { OwnFile } from './own-file.ts'

/** A file that is not JSON may be half saved, and a disk may work again: so many more times an edit is tried. */
const TRIES = 3
/** Milliseconds between them. */
const UNTIL_SAVED = 200
const UNTIL_DISK_WORKS = 1000

export interface EditsOptions {
  readonly files: Files
  readonly own: OwnFile
  readonly log: Log
  readonly sandbox: Sandbox
  readonly later: Later
  readonly onNotice: OnNotice
  /** The file is not what the emulator would write: it wants a checkpoint. */
  readonly wantsCheckpoint: () => void
}

/** The file as it was found, and the SHA-256 of its bytes. */
interface Found {
  readonly stat: FileStat
  readonly digest: string
}

type Outcome = 'taken' | 'refused' | 'half-saved' | 'disk-fails'

/** Edits of the state file by others, while the emulator runs. Recognised by what the file is, never by when it changed. */
export class Edits {
  readonly #options: EditsOptions
  readonly #pauses = new Set<() => void>()
  #settling: Promise<void> | undefined
  #closing = false
  #dealtWith = 0
  #said = ''

  constructor(options: EditsOptions) {
    this.#options = options
  }

  /** Whether the file is something else than what has been dealt with. */
  get pending(): boolean {
    return this.#settling !== undefined || this.#options.own.news() !== undefined
  }

  /** How many edits have been taken or refused. */
  get dealtWith(): number {
    return this.#dealtWith
  }

  /** Resolves when everything that the file says by now has been taken or refused. */
  settle(): Promise<void> {
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = undefined
    })
    return this.#settling
  }

  /** Takes what editors have written into files that checkpoints had just replaced. True when there was something to take. */
  settleStrays(): boolean {
    const failed = (error: unknown): void => this.#cannotLookBack(error)
    const strays = this.#options.own.strays(failed).filter((bytes) => bytes.length > 0)
    const taken = strays.map((bytes) => this.#deal(bytes, true)).includes('taken')
    if (taken) this.#options.wantsCheckpoint()
    return taken
  }

  /** From now on nothing is waited for: what is still half saved is refused. */
  close(): void {
    this.#closing = true
    for (const wake of this.#pauses) wake()
  }

  async #settle(): Promise<void> {
    const { own, files } = this.#options
    let [tries, before] = [0, '']
    for (let stat = own.news(); stat !== undefined; stat = own.news()) {
      if (stat === 'missing') return this.#removed()
      const bytes = files.read(own.path)
      if (bytes === undefined) continue
      const digest = sha256(bytes)
      // A text that still changes is still being written.
      tries = digest === before ? tries + 1 : 0
      before = digest
      const last = this.#closing || tries >= TRIES
      const outcome = own.says(digest) ? 'known' : this.#deal(bytes, last, { stat, digest })
      if (outcome === 'known' || outcome === 'refused') own.seen(stat)
      if (outcome === 'taken' || outcome === 'refused') {
        this.#dealtWith += 1
        this.#options.wantsCheckpoint()
      }
      if (outcome === 'half-saved') await this.#pause(UNTIL_SAVED)
      if (outcome !== 'disk-fails') continue
      if (this.#closing) return
      await this.#pause(UNTIL_DISK_WORKS)
    }
  }

  // Not found in the file itself, the bytes come from one that a checkpoint has replaced.
  #deal(bytes: Buffer, last: boolean, found?: Found): Outcome {
    const { own, sandbox } = this.#options
    try {
      const text = textOf(bytes, own.path)
      const edited = parseState(text, own.path)
      const checked = checkDocument(edited, sandbox.service, sandbox.ledger, sandbox.options.strict)
      if ('issues' in checked) return this.#refuseIssues(bytes, text, checked.issues)
      const take = () => this.#take(edited as Document, checked.world)
      if (found === undefined) take()
      else this.#adopt(edited as Document, checked.world, found, take)
      return 'taken'
    } catch (error) {
      if (error instanceof EditRefused) return this.#refuse(bytes, `${own.path}: ${error.message}`)
      if (error instanceof StateFileSyntax)
        return last ? this.#refuse(bytes, error.message, error.line) : 'half-saved'
      if (!last && isDiskFailure(error)) return 'disk-fails'
      return this.#refuse(bytes, `${own.path}: ${reasonOf(error)}`)
    }
  }

  #take(edited: Document, checked: WorldState): void {
    const { sandbox, own } = this.#options
    const known = own.documentAt(edited.revision)
    if (known === undefined) throw new Error('the edit came before the first checkpoint')
    const keep = (records: readonly Replaced[]): string => this.#keepReplaced(records)
    const edit = { edited, checked, base: known.document, exact: known.exact, keep }
    this.#report(applyEdit(sandbox, edit), edited, known.exact)
  }

  #adopt(edited: Document, world: WorldState, { stat, digest }: Found, take: () => void): void {
    const { log, own, sandbox } = this.#options
    log.adopt(digest, adoption(world, sandbox), take)
    try {
      own.taken(stat, edited, digest)
    } catch {
      // It is in the world by now, and must not be refused: the next look finds the same bytes, and tries again.
    }
  }

  #report(
    { written, removed, replaced, kept, notes }: EditOutcome,
    { revision }: Document,
    exact: boolean,
  ): void {
    const { own } = this.#options
    const counts = `${written} written, ${removed} removed`
    const conflicts =
      replaced.length === 0
        ? []
        : [`These had changed meanwhile, and the edit won: ${named(replaced)}. What they were is in ${kept}.`]
    const old = exact
      ? []
      : [
          `The edit was made on revision ${revision}, which is not remembered any more: it has been compared with the last checkpoint.`,
        ]
    this.#options.onNotice({
      level: replaced.length + notes.length > 0 || !exact ? 'warn' : 'info',
      event: 'edit_taken',
      message: [
        `The edit of ${own.path} has been taken (records: ${counts}).`,
        ...old,
        ...conflicts,
        ...notes,
      ].join(' '),
      file: own.path,
      ...(kept === undefined ? {} : { kept }),
    })
  }

  #refuseIssues(bytes: Buffer, text: string, issues: readonly Issue[]): Outcome {
    const { own } = this.#options
    const lines = issueLines(own.path, text, issues)
    return this.#refuse(bytes, lines.message, lines.line)
  }

  #refuse(bytes: Buffer, reason: string, line?: number): Outcome {
    const { files, own } = this.#options
    let kept: string
    try {
      kept = keptName(files, own.path, 'rejected')
      create(files, kept, bytes)
    } catch (error) {
      this.#cannotKeep(error)
      return 'disk-fails'
    }
    this.#options.onNotice({
      level: 'error',
      event: 'edit_refused',
      message: `The edit has been refused; the world goes on as it was. ${reason}. The edited text is in ${kept}: mend it there and copy it over ${own.path}.`,
      file: own.path,
      ...(line === undefined ? {} : { line }),
      kept,
    })
    return 'refused'
  }

  #cannotLookBack(error: unknown): void {
    const { own, onNotice } = this.#options
    onNotice({
      level: 'warn',
      event: 'watch_failed',
      message: `A file that a checkpoint of ${own.path} has replaced cannot be looked at any more: ${reasonOf(error)}. If you saved the file at that moment, see whether your edit is in it.`,
      file: own.path,
    })
  }

  // Said once until something could be kept: while the disk fails this comes every second.
  #cannotKeep(error: unknown): void {
    const { own } = this.#options
    const message = `An edit of ${own.path} cannot be taken, nor kept beside: ${reasonOf(error)}. No checkpoint is written over it; the log goes on.`
    if (message === this.#said) return
    this.#said = message
    this.#options.onNotice({ level: 'error', event: 'edit_refused', message, file: own.path })
  }

  #removed(): void {
    const { own } = this.#options
    own.gone()
    this.#options.onNotice({
      level: 'warn',
      event: 'file_removed',
      message: `${own.path} has been removed. The world is in memory and will be written again; to start anew, use reset, or stop the emulator and then remove the file.`,
      file: own.path,
    })
    this.#options.wantsCheckpoint()
  }

  #keepReplaced(records: readonly Replaced[]): string {
    const { files, own } = this.#options
    const kept = keptName(files, own.path, 'replaced')
    create(files, kept, Buffer.from(`${JSON.stringify({ replaced: records }, null, 2)}\n`))
    return kept
  }

  #pause(ms: number): Promise<void> {
    if (this.#closing) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel()
        this.#pauses.delete(wake)
        resolve()
      }
      const cancel = this.#options.later(ms, wake)
      this.#pauses.add(wake)
    })
  }
}

const SHOWN = 5

function named(replaced: readonly Replaced[]): string {
  const names = replaced.slice(0, SHOWN).map(({ table, record }) => `${table}/${record.id}`)
  const more = replaced.length > SHOWN ? [`and ${replaced.length - SHOWN} more`] : []
  return [...names, ...more].join(', ')
}

function isDiskFailure(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'storage_unavailable'
}
