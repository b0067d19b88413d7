import type { LoggedCommit } from '../../core/state/commit.ts'
import { migrateCommit } from '../../core/state/migrate.ts'
import type { Document } from '../../core/state/state.ts'
import type { Files } from './files.ts'
import { commitsAfter, JournalCorrupt, type Line, type PlacedCommit, readLines } from './journal-format.ts'
import { earlierGenerations, keptName } from './names.ts'
import type { SetAside } from './set-aside.ts'
import type { FoundState } from './state-file.ts'

/** The lines of a journal of version 0.1.0 that are not commits. */
type OldLine =
  | { readonly log: number; readonly revision: number; readonly base: { readonly sha256: string } | null }
  | { readonly base: { readonly sha256: string } }
  | { readonly adopts: string; readonly commit: LoggedCommit }

/** The content of one file of such a journal. */
interface OldJournal {
  readonly path: string
  readonly header: { readonly revision: number } | undefined
  readonly commits: readonly PlacedCommit[]
  /** Digests of the state files that the emulator wrote. */
  readonly digests: readonly string[]
  /** Commits that turn an edited file into the state after the edit was applied. */
  readonly adoptions: readonly (PlacedCommit & { readonly adopts: string })[]
  readonly corrupt?: JournalCorrupt
}

/** The files of version 0.1.0: a document of format 1, and its journal `<file>.log`, `<file>.log.1` and so on. */
export class OldFiles {
  readonly #aside: SetAside
  readonly #files: Files
  readonly #path: string
  /** The files of the journal, oldest first. */
  readonly paths: readonly string[]

  constructor(aside: SetAside) {
    const { files, path } = aside
    this.#aside = aside
    this.#files = files
    this.#path = path
    const log = `${path}.log`
    this.paths = [...earlierGenerations(files, log), log].filter((each) => files.stat(each))
  }

  /**
   * Copies the state file and the journal, and reads the journal by the rules of 0.1.0.
   * @returns the commits that the file lacks; undefined when the journal does not continue it, and has been moved aside
   */
  migrate(found: FoundState): readonly PlacedCommit[] | undefined {
    for (const path of [this.#path, ...this.paths]) this.#keepCopy(path)
    this.#aside.notify(
      'info',
      'migrated',
      `${this.#path} is of version 0.1.0 and is rewritten in the current format. Copies of the old files are kept next to it (${this.#copyOf(this.#path)}...).`,
    )
    if (found.problem !== undefined) return undefined
    const journals = this.paths.map((path) => readOldJournal(this.#files, path))
    const adopted = journals
      .flatMap(({ adoptions }) => adoptions)
      .findLast(({ adopts }) => adopts === found.sha256)
    const isOwn = journals.some(({ digests }) => digests.includes(found.sha256))
    const { revision } = found.raw as Document
    if (adopted === undefined && !isOwn) {
      this.#orphan(
        journals,
        revision,
        'was edited while the emulator was not running. The edited file is used',
      )
      return undefined
    }
    const start = adopted?.commit.revision ?? revision
    const { commits, corrupt } = commitsAfter(journals, start)
    if (corrupt !== undefined)
      this.#orphan(
        [],
        start + commits.length,
        `has a damaged journal: ${corrupt.message}. It is read up to that line`,
      )
    return adopted === undefined ? commits : [adopted, ...commits]
  }

  /** Removes a journal of 0.1.0 if it was copied and the newer state file contains all its commits. Otherwise moves it aside. */
  removeContained(found: FoundState | undefined): void {
    if (this.paths.length === 0) return
    const journals = this.paths.map((path) => readOldJournal(this.#files, path))
    const revision =
      found?.problem === undefined ? Number((found?.raw as Document | undefined)?.revision) : Number.NaN
    const isContained = (each: OldJournal): boolean =>
      each.corrupt === undefined &&
      each.commits.every(({ commit }) => commit.revision <= revision) &&
      this.#isCopied(each.path)
    if (journals.every(isContained)) for (const { path } of journals) this.#files.remove(path)
    else
      this.#orphan(
        journals,
        revision,
        'has a journal of version 0.1.0 next to it, whose changes it does not contain',
      )
  }

  #orphan(journals: readonly OldJournal[], revision: number, what: string): void {
    const later = journals
      .flatMap(({ commits }) => commits)
      .filter(({ commit }) => !(commit.revision <= revision)).length
    this.#aside.orphaned(
      `${this.#path} ${what}, without ${later} later changes of its journal.`,
      this.paths.filter((path) => this.#files.stat(path) !== undefined),
    )
  }

  #keepCopy(path: string): void {
    if (this.#isCopied(path)) return
    const copy = this.#copyOf(path)
    this.#files.copy(
      path,
      this.#files.stat(copy) === undefined ? copy : keptName(this.#files, this.#path, 'format-1'),
    )
  }

  #isCopied(path: string): boolean {
    const content = this.#files.read(path)
    return content !== undefined && this.#files.read(this.#copyOf(path))?.equals(content) === true
  }

  /** `default.json.format-1`, `default.json.format-1.log`. */
  #copyOf(path: string): string {
    return `${this.#path}.format-1${path.slice(this.#path.length)}`
  }
}

function readOldJournal(files: Files, path: string): OldJournal {
  const commits: PlacedCommit[] = []
  const digests: string[] = []
  const adoptions: (PlacedCommit & { readonly adopts: string })[] = []
  let header: { readonly revision: number } | undefined
  let corrupt: JournalCorrupt | undefined
  for (const { offset, line, ended } of readLines(files, path)) {
    if (!ended) break
    if (line === undefined) {
      corrupt = new JournalCorrupt(path, offset, 'a damaged line begins here')
      break
    }
    const old = line as Line | OldLine
    if ('log' in old) header ??= old
    if ('changes' in old) commits.push({ commit: migrateCommit(old), path, offset })
    else if ('adopts' in old) adoptions.push({ ...old, commit: migrateCommit(old.commit), path, offset })
    else if ('base' in old && old.base !== null) digests.push(old.base.sha256)
  }
  if (header === undefined) corrupt ??= new JournalCorrupt(path, 0, 'the journal has no header')
  return { path, header, commits, digests, adoptions, ...(corrupt && { corrupt }) }
}
