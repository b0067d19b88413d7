import { refuse } from '../../kernel/errors.ts'
import type { Commit, Journal } from '../../kernel/state/commit.ts'
import { type Files, reasonOf } from './files.ts'
import { Generation } from './generation.ts'
import { type Base, commitLine, encodeLine, LOG_FORMAT } from './log-format.ts'
import { siblings, temporary } from './names.ts'

/** What a crash may not lose: `process` is the end of the process by whatever cause, `power` that of the machine. */
export type Durability = 'process' | 'power'

/**
 * The append-only log of one world: `<file>.log`, and while a checkpoint is being written the generations before it,
 * `<file>.log.1` and so on. A generation is begun in the same turn as the checkpoint's copy of the state, so that the
 * earlier ones can go as soon as the checkpoint stands; until then nothing of them is touched. A crash at any point leaves
 * every line in some generation, at worst beside a checkpoint that already contains it, and then it is skipped.
 */
export class Log implements Journal {
  readonly path: string
  readonly #files: Files
  readonly #durability: Durability
  readonly #rescue: () => Promise<void>
  #present: Generation | undefined
  #earlier: Generation[] = []
  #commits = 0
  /** The line that goes with the next commit. */
  #adoption: Uint8Array | undefined
  #blocked: string | undefined

  /** `rescue` makes everything durable by other means, a checkpoint, when syncing the log has failed. */
  constructor(files: Files, path: string, durability: Durability, rescue: () => Promise<void>) {
    this.#files = files
    this.path = path
    this.#durability = durability
    this.#rescue = rescue
  }

  /** Writes one line, or throws `storage_unavailable` with nothing of it left. Whether writing works again is found out by the next call. */
  append(commit: Commit): void {
    // Outside of the write: what cannot be written as JSON is no failure of the disk.
    const line = encodeLine(commitLine(commit))
    try {
      this.#write(this.#adoption === undefined ? line : Buffer.concat([line, this.#adoption]))
    } catch (error) {
      refuse('storage_unavailable', { detail: `${this.path} could not be written: ${reasonOf(error)}.` })
    }
    this.#adoption = undefined
    this.#commits += 1
  }

  /**
   * Resolves when everything appended so far survives a power cut; undefined where that is not promised. Rejects with
   * `storage_unavailable` when neither the log nor a checkpoint could be made durable.
   */
  durable(): Promise<void> | undefined {
    return this.#durability === 'power' ? this.#durable() : undefined
  }

  /** Says that the state file with this digest is about to take its place. Resolves when that is on the disk itself. */
  async mark(base: Base): Promise<void> {
    this.#write(encodeLine({ base }))
    await this.#present?.sync()
  }

  /**
   * Takes an edit of the state file, whose digest from then on is this one. What turns that file into the world as it was
   * before the edit is written together with the edit's own commit, so that no crash finds the one without the other.
   */
  adopt(sha256: string, commit: Commit, take: () => void): void {
    this.#adoption = Buffer.from(encodeLine({ adopts: sha256, commit: commitLine(commit) }))
    try {
      take()
      if (this.#adoption !== undefined) this.#tryToWrite(this.#adoption)
      // It has to go with this generation, whatever the edit has changed.
      this.#commits += 1
    } finally {
      this.#adoption = undefined
    }
  }

  /**
   * Begins a generation that follows this revision and stands on this state file. One that nothing has been committed to is
   * gone on with, and so is one that follows a failed checkpoint, lest every further failure leave a file.
   */
  begin(revision: number, base: Base | undefined): void {
    const old = this.#present
    const usable = old !== undefined && !old.failed && old.isAt(this.path)
    if (usable && (this.#commits === 0 || this.#earlierPaths().length > 0)) return
    this.#present = this.#make(encodeLine({ log: LOG_FORMAT, revision, base: base ?? null }))
    this.#commits = 0
    if (old === undefined) return
    if (this.#durability === 'power') this.#earlier.push(old)
    else old.close()
  }

  /** Removes the generations before the present one: a checkpoint that contains them stands. */
  dropEarlier(): void {
    for (const path of this.#earlierPaths()) this.#files.remove(path)
    for (const generation of this.#earlier) generation.close()
    this.#earlier = []
  }

  /** Refuses every write from now on, with this reason; undefined lifts it. */
  block(reason: string | undefined): void {
    this.#blocked = reason
  }

  close(): void {
    this.block('the state file is closed')
    for (const generation of [...this.#earlier, this.#present]) generation?.close()
    this.#present = undefined
    this.#earlier = []
  }

  // Of an edit that has changed no record, and so has no commit. Where this fails, the next checkpoint makes up for it.
  #tryToWrite(line: Uint8Array): void {
    try {
      this.#write(line)
    } catch {}
  }

  #write(line: Uint8Array): void {
    if (this.#blocked !== undefined) throw new Error(this.#blocked)
    if (this.#present === undefined) throw new Error('the log is not open')
    this.#present.write(line)
  }

  async #durable(): Promise<void> {
    try {
      await Promise.all([...this.#earlier, this.#present].map((generation) => generation?.sync()))
    } catch (cause) {
      await this.#rescue().catch((error) =>
        refuse('storage_unavailable', {
          detail: `${this.path} could not be brought onto the disk: ${reasonOf(cause)}. A checkpoint failed, too: ${reasonOf(error)}.`,
        }),
      )
    }
  }

  #make(header: Uint8Array): Generation {
    const fresh = temporary(this.path)
    const generation = new Generation(this.#files, fresh, this.path)
    try {
      generation.write(header)
      if (this.#files.stat(this.path) !== undefined) this.#files.rename(this.path, this.#earlierName())
      this.#files.rename(fresh, this.path)
    } catch (error) {
      generation.close()
      this.#files.remove(fresh)
      throw error
    }
    return generation
  }

  #earlierPaths(): string[] {
    return earlierGenerations(this.#files, this.path)
  }

  #earlierName(): string {
    return `${this.path}.${numberOf(this.#earlierPaths().at(-1) ?? '.0') + 1}`
  }
}

/** The files of the generations before the present one, oldest first. */
export function earlierGenerations(files: Files, path: string): string[] {
  return siblings(files, path)
    .filter((each) => /^\.\d+$/.test(each.slice(path.length)))
    .sort((a, b) => numberOf(a) - numberOf(b))
}

function numberOf(path: string): number {
  return Number(path.slice(path.lastIndexOf('.') + 1))
}
