import { isStorageFailure } from '../../core/errors.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { checkDocument } from '../../core/state/document.ts'
import { salvage } from '../../core/state/salvage.ts'
import type { Document } from '../../core/state/state.ts'
import type { Cancel, Later } from '../realtime.ts'
import { errorMessage, type FileStat } from './files.ts'
import type { JournalWriter } from './journal.ts'
import { applyEdit } from './merge-edit.ts'
import type { OwnFile } from './own-file.ts'
import type { SetAside } from './set-aside.ts'
import { issueLines, readState, type StateText } from './state-file.ts'

/** How often an edit is tried again: a file that is not JSON may be half saved, and a failing disk may recover. */
const MAX_TRIES = 3
/** Milliseconds before the next try. */
const UNTIL_SAVED = 200
const UNTIL_DISK_WORKS = 1000

/** How often the metadata of the file is read, in milliseconds. */
const WATCH_INTERVAL = 250

/** Milliseconds after a checkpoint in which an editor may still write into the file that it replaced. */
const UNTIL_LEFTOVERS = 500

interface EditsOptions {
  readonly own: OwnFile
  readonly journal: JournalWriter
  readonly aside: SetAside
  readonly sandbox: Sandbox
  readonly later: Later
  /** Called when the file differs from the state, so that a checkpoint is needed. */
  readonly wantsCheckpoint: () => void
}

type Outcome = 'taken' | 'refused' | 'known' | 'half-saved' | 'disk-fails'

/** Finds and applies edits of the state file. They are recognised by the content of the file, never by the time of the change. */
export class Edits {
  readonly #options: EditsOptions
  readonly #pauses = new Set<() => void>()
  #running: Promise<void> | undefined
  #watcher: Promise<{ close(): Promise<void> }> | undefined
  #cancelLeftovers: Cancel | undefined
  #starting = false
  #closing = false
  #dealtWith = 0

  constructor(options: EditsOptions) {
    this.#options = options
  }

  /** Whether the file has changed since the last edit was applied or refused. */
  get pending(): boolean {
    return this.#running !== undefined || this.#options.own.news() !== undefined
  }

  /** The number of edits that have been applied or refused. */
  get dealtWith(): number {
    return this.#dealtWith
  }

  /** Applies an edit from the time when no emulator was running. Invalid records are set aside; the rest is applied. */
  async start(): Promise<void> {
    this.#starting = true
    try {
      await this.done()
    } finally {
      this.#starting = false
    }
  }

  /** Resolves when the present content of the file has been applied or refused. */
  done(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /**
   * Begins to watch the file. It is polled every {@link WATCH_INTERVAL} milliseconds: that also works on mounted directories,
   * which report no events, and a journal that grows next to the file costs nothing. The library is loaded here, so that it does
   * not slow down the start.
   */
  watch(): void {
    const { path } = this.#options.own
    const failed = (error: unknown): void =>
      this.#options.aside.notify(
        'warn',
        'watch_failed',
        `${path} cannot be watched: ${errorMessage(error)}. Edits are noticed at the next checkpoint.`,
      )
    const look = (): void => {
      this.done().catch(failed)
    }
    this.#watcher = import('chokidar').then(({ watch }) => {
      const [interval, binaryInterval] = [WATCH_INTERVAL, WATCH_INTERVAL]
      const watcher = watch(path, { usePolling: true, interval, binaryInterval, persistent: false })
      // `raw` is also emitted when an older file replaces this one. For chokidar such a file is unchanged.
      watcher.on('raw', look)
      watcher.on('all', (event) => {
        // chokidar stops watching a removed file, but the file may be created again.
        if (event === 'unlink') watcher.add(path)
        look()
      })
      watcher.on('error', failed)
      return watcher
    })
    // The first check finds edits that were saved before the watch started.
    this.#watcher.then(look, failed)
  }

  /** Resolves when the file is watched. */
  async watching(): Promise<void> {
    await this.#watcher
  }

  /** Checks the file that a checkpoint replaced, {@link UNTIL_LEFTOVERS} milliseconds after the checkpoint. */
  lookBackLater(): void {
    if (!this.#options.own.hasFormers) return
    this.#cancelLeftovers ??= this.#options.later(UNTIL_LEFTOVERS, () => {
      this.#cancelLeftovers = undefined
      this.lookBack()
    })
  }

  /** Applies text that editors wrote into files which checkpoints had just replaced. True when an edit was applied. */
  lookBack(): boolean {
    const { own, aside } = this.#options
    const leftovers = own.leftovers((error) =>
      aside.notify(
        'warn',
        'watch_failed',
        `A file that a checkpoint of ${own.path} has replaced cannot be read any more: ${errorMessage(error)}. If you saved the file at that moment, check whether it contains your edit.`,
      ),
    )
    const written = leftovers.filter((bytes) => bytes.length > 0)
    const taken = written.map((bytes) => this.#deal(bytes, true)).includes('taken')
    if (taken) this.#options.wantsCheckpoint()
    return taken
  }

  /** Ends all waiting: from now on a text that is not JSON is refused at once. */
  close(): void {
    this.#closing = true
    for (const wake of this.#pauses) wake()
  }

  async stopWatching(): Promise<void> {
    this.#cancelLeftovers?.()
    const watcher = await this.#watcher?.catch(() => undefined)
    await watcher?.close()
  }

  async #run(): Promise<void> {
    const { own, aside } = this.#options
    let [tries, before]: [number, Buffer?] = [0]
    for (let stat = own.news(); stat !== undefined; stat = own.news()) {
      if (stat === 'missing') return this.#removed()
      const bytes = aside.files.read(own.path)
      if (bytes === undefined) continue
      // A text that still changes is still being written.
      tries = before?.equals(bytes) === true ? tries + 1 : 0
      before = bytes
      const outcome = this.#deal(bytes, this.#closing || this.#starting || tries >= MAX_TRIES, stat)
      if (outcome === 'known' || outcome === 'refused') own.seen(stat)
      if (outcome === 'taken' || outcome === 'refused') {
        this.#dealtWith += 1
        this.#options.wantsCheckpoint()
      }
      if (outcome === 'half-saved') await this.#pause(UNTIL_SAVED)
      if (outcome !== 'disk-fails') continue
      if (this.#closing) return
      if (this.#starting) throw new Error(`an edit of ${own.path} can neither be applied nor saved`)
      await this.#pause(UNTIL_DISK_WORKS)
    }
  }

  /**
   * Applies an edit, or refuses it and keeps its text.
   * @param isLast whether this is the last try
   * @param stat of the state file; absent for a file that a checkpoint has replaced
   */
  #deal(bytes: Buffer, isLast: boolean, stat?: FileStat): Outcome {
    const { own, aside } = this.#options
    const refuse = (reason: string, line?: number): Outcome =>
      aside.refuseEdit(bytes, reason, line) ? 'refused' : 'disk-fails'
    try {
      const found = readState(bytes, own.path)
      if (own.isKnown(found.sha256)) return 'known'
      if (found.problem === undefined) return this.#take(found, stat)
      return isLast ? refuse(found.problem.message, found.problem.line) : 'half-saved'
    } catch (error) {
      if (isStorageFailure(error)) {
        if (this.#starting) throw error
        if (!isLast) return 'disk-fails'
      }
      return refuse(`${own.path}: ${errorMessage(error)}`)
    }
  }

  #take(found: StateText, stat: FileStat | undefined): Outcome {
    const { own, aside, sandbox } = this.#options
    const { service, assumptions, options } = sandbox
    const { revision } = found.raw as Document
    const base = own.documentAt(revision)
    const check = (raw: unknown) => checkDocument(raw, service, assumptions, options.strict)
    const checked = check(found.raw)
    const usable =
      'state' in checked
        ? { state: checked.state, document: found.raw as Document, setAside: [] }
        : this.#starting
          ? salvage(found.raw as Document, check, base ?? sandbox.document())
          : undefined
    if (usable === undefined) {
      const { message, line } = issueLines(own.path, found.text, 'issues' in checked ? checked.issues : [])
      return aside.refuseEdit(found.bytes, message, line) ? 'refused' : 'disk-fails'
    }
    if (usable.setAside.length > 0) aside.records(usable.setAside, found.text)
    if (!found.isUnedited && base === undefined && !this.#starting)
      return this.#refuseUnknown(found, revision)
    let kept: string | undefined
    try {
      const report = this.#commit(found, usable.document, stat, (commits) => {
        // A restored copy of a file of any age replaces the whole state, and so does an edit whose base is not known.
        if (found.isUnedited || base === undefined) {
          const replaced = aside.keepState(sandbox.document())
          kept = replaced
          commits()
          sandbox.replaceWith(usable.state)
          return () => aside.wentBack(usable.document, found.isUnedited, replaced)
        }
        const outcome = applyEdit(sandbox, {
          edited: usable.document,
          checked: usable.state,
          base,
          commits,
          keep: (records) => {
            kept = aside.keepReplaced(records)
            return kept
          },
        })
        return () => aside.editTaken(outcome)
      })
      report()
    } catch (error) {
      if (kept !== undefined) aside.files.remove(kept)
      throw error
    }
    return 'taken'
  }

  #refuseUnknown({ bytes }: StateText, revision: number): Outcome {
    const { path } = this.#options.own
    const isKept = this.#options.aside.refuseEdit(
      bytes,
      `${path}: it is an edit of revision ${revision}, which is not in memory, so its changes cannot be determined`,
      undefined,
      (kept) =>
        `make the change in the current ${path}, or load the whole edited text with PUT /__emulator/state, or stop the emulator, copy ${kept} over ${path}, and start again`,
    )
    return isKept ? 'refused' : 'disk-fails'
  }

  #commit<T>(
    { sha256 }: StateText,
    document: Document,
    stat: FileStat | undefined,
    take: (commits: () => void) => T,
  ): T {
    const { journal, own } = this.#options
    if (stat === undefined) return take(() => {})
    const result = journal.takeEdit(sha256, take)
    try {
      own.taken(stat, document, sha256)
    } catch {
      // The edit is in the sandbox and must not be refused. The next check finds the same bytes and tries again.
    }
    return result
  }

  #removed(): void {
    const { own, aside, wantsCheckpoint } = this.#options
    own.gone()
    aside.notify(
      'warn',
      'file_removed',
      `${own.path} has been removed. The sandbox is in memory, and the file will be written again; to start again, use reset, or stop the emulator and then remove the file.`,
    )
    wantsCheckpoint()
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
