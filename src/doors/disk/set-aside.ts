import type { Files } from './files.ts'
import type { GenerationContents, LogCorrupt } from './log-reader.ts'
import { keptName } from './names.ts'
import type { OnNotice } from './notice.ts'

/** Moves what cannot be used out of the way, under a name that says why, and tells the owner. Nothing is ever destroyed. */
export class SetAside {
  readonly #files: Files
  readonly #path: string
  readonly #onNotice: OnNotice

  constructor(files: Files, path: string, onNotice: OnNotice) {
    this.#files = files
    this.#path = path
    this.#onNotice = onNotice
  }

  /** A state file that is no state, with its log, so that both can be put back. */
  corruptFile(reason: string, line: number, generations: readonly GenerationContents[]): void {
    const kept = keptName(this.#files, this.#path, 'corrupt')
    for (const { path } of generations) this.#files.rename(path, kept + path.slice(this.#path.length))
    this.#files.rename(this.#path, kept)
    const log = generations.length === 0 ? '' : ` (its log is beside it)`
    this.#onNotice({
      level: 'error',
      event: 'file_corrupt',
      message: `${reason}. The file cannot be used and has been moved to ${kept}${log}; the emulator starts from its starting world. To go back: stop the emulator, mend ${kept}, and move it${log === '' ? '' : ' and its log'} to the old name.`,
      file: this.#path,
      line,
      kept,
    })
  }

  /** A log that is damaged at some place. What stands before the place stays; a copy of everything is kept. */
  corruptLog(
    { path, offset, message }: LogCorrupt,
    generations: readonly GenerationContents[],
    revision: number,
  ): void {
    const kept = keptName(this.#files, `${this.#path}.log`, 'corrupt')
    this.#files.copy(path, kept)
    const later = generations.slice(generations.findIndex((each) => each.path === path) + 1)
    for (const each of later)
      this.#files.rename(each.path, keptName(this.#files, `${this.#path}.log`, 'corrupt'))
    this.#files.truncatePath(path, offset)
    this.#onNotice({
      level: 'error',
      event: 'log_corrupt',
      message: `${message}. The world is as it was at revision ${revision}; later changes are not in it. The whole log has been kept as ${kept}.`,
      file: path,
      kept,
    })
  }

  /** A log whose state file is not there any more. */
  orphanedLog(reason: string, generations: readonly GenerationContents[]): void {
    const kept = generations.map(({ path }) => {
      const name = keptName(this.#files, `${this.#path}.log`, 'orphaned')
      this.#files.rename(path, name)
      return name
    })
    this.#onNotice({
      level: 'error',
      event: 'log_orphaned',
      message: `${reason} The log has been kept as ${kept.join(' and ')}.`,
      file: this.#path,
      ...(kept[0] === undefined ? {} : { kept: kept[0] }),
    })
  }
}
