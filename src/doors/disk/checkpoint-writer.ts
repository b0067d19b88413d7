import { dirname } from 'node:path'
import { Low } from 'lowdb'
import type { Document } from '../../kernel/state/state.ts'
import { hostTime } from '../../kernel/time/clock.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import { type Placing, StateFileAdapter, type Written } from './adapter.ts'
import type { Edits } from './edits.ts'
import type { Files } from './files.ts'
import type { Lock } from './lock.ts'
import type { Log } from './log.ts'
import type { OwnFile } from './own-file.ts'

/** How often a checkpoint gives way to edits that come while it is being written, before it is given up. */
const PATIENCE = 10

/** The file has been edited while its checkpoint was being written. */
class Overtaken extends Error {}

export interface WriterOptions {
  readonly files: Files
  readonly own: OwnFile
  readonly log: Log
  readonly lock: Lock
  readonly sandbox: Sandbox
  readonly edits: Edits
}

/**
 * Writes checkpoints. In this order, so that a crash after any step finds a state file, and the lines that it lacks: a new
 * generation of the log; the new file beside the old one; its digest into the log; the new file in the old one's place; the
 * generations before removed.
 */
export class CheckpointWriter implements Placing {
  readonly #options: WriterOptions
  readonly #adapter: StateFileAdapter
  #document: Document | undefined
  #dealtWith = 0

  constructor(options: WriterOptions) {
    this.#options = options
    this.#adapter = new StateFileAdapter(options.files, options.own.path, this)
  }

  /** Writes one; the milliseconds that it took. An edit that is found before or meanwhile is dealt with first. */
  async write(): Promise<number> {
    for (let tries = 0; tries < PATIENCE; tries++) {
      await this.#options.edits.settle()
      const started = hostTime()
      try {
        await this.#writeOnce()
        return Math.max(0, hostTime() - started)
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
      }
    }
    throw new Error(`${this.#options.own.path} is being edited all the time`)
  }

  async prepare(revision: number, sha256: string): Promise<void> {
    await this.#options.log.mark({ revision, sha256 })
  }

  check(): void {
    const { pending, dealtWith } = this.#options.edits
    // Also when it has been dealt with: the copy of the state was made before.
    if (pending || dealtWith !== this.#dealtWith) throw new Overtaken()
  }

  placed(written: Written): void {
    if (this.#document !== undefined) this.#options.own.written(written, this.#document)
    this.#document = undefined
  }

  async #writeOnce(): Promise<void> {
    const { files, own, log, lock, sandbox } = this.#options
    files.makeDirectory(dirname(own.path))
    this.#confirm(lock, log)
    const document = sandbox.document()
    log.begin(document.revision, own.base)
    this.#document = document
    this.#dealtWith = this.#options.edits.dealtWith
    await new Low<Document>(this.#adapter, document).write()
    log.dropEarlier()
  }

  // Whoever has lost the file must not write beside its new owner.
  #confirm(lock: Lock, log: Log): void {
    try {
      lock.confirm()
      log.block(undefined)
    } catch (error) {
      log.block('another process has taken over the state file')
      throw error
    }
  }
}
