import type { Service } from '../../core/service.ts'
import { changedRow, type LoggedCommit } from '../../core/state/commit.ts'
import { checkDocument } from '../../core/state/document.ts'
import {
  CLOCK,
  type Document,
  SANDBOX_TABLE,
  type SandboxState,
  storeOf,
  toDocument,
} from '../../core/state/state.ts'
import type { ClockRow } from '../../core/time/clock.ts'
import { counted, sentence } from '../../core/words.ts'
import { errorMessage, type FileStat, type Files } from './files.ts'
import {
  type Damage,
  digestOf,
  type JournalContents,
  type PlacedCommit,
  readJournal,
} from './journal-format.ts'
import { journalOf } from './names.ts'
import { issuesError, parseState, UnusableState } from './state-file.ts'

/** The rules that the state of a sandbox is checked against. */
export interface LoadContext {
  readonly service: Service
  readonly strict: boolean
}

/** The state of a sandbox on the disk. */
export interface LoadedState {
  readonly state: SandboxState
  /** The clock must not be before this instant: virtual milliseconds of the last commit since the clock was set, or 0. */
  readonly floor: number
}

/** The files of a sandbox, and the state that they contain together. */
export interface Recovered {
  /** Undefined when there is no state file, and no journal that needs one. */
  readonly loaded: LoadedState | undefined
  readonly file: Found | undefined
  /** The journal, if it continues the file. */
  readonly journal: JournalContents | undefined
  /** Whether the state has commits that the file lacks. */
  readonly hasCommits: boolean
  /** Whether commits of the journal are left out. */
  readonly isDiscarded: boolean
}

/** Thrown for files that cannot be used. Nothing has been changed. The message has place, reason and way out. */
export class StartStopped extends Error {
  /** Whether the start succeeds without the journal. */
  readonly isOfJournal: boolean

  constructor(reason: string, fix: string, isOfJournal: boolean) {
    super(`${sentence(reason)} Nothing has been changed. ${fix}`)
    this.name = 'StartStopped'
    this.isOfJournal = isOfJournal
  }
}

/** A state file on the disk. */
interface Found {
  readonly bytes: Buffer
  readonly digest: string
  readonly stat: FileStat
}

/**
 * Reads a state file and the journal that continues it. Changes nothing. Throws {@link StartStopped}, or `NotAFile`.
 * @param discard leave out a journal that cannot be used
 */
export function recover(files: Files, path: string, context: LoadContext, discard: boolean): Recovered {
  const stat = files.stat(path)
  const bytes = files.read(path)
  const file = bytes && stat && { bytes, stat, digest: digestOf(bytes) }
  const journal = readJournal(files, journalOf(path))
  try {
    return together(path, file, journal, context)
  } catch (error) {
    if (!discard || !(error instanceof StartStopped && error.isOfJournal)) throw error
    const loaded = file && load(path, file.bytes, undefined, context)
    return { loaded, file, journal: undefined, hasCommits: false, isDiscarded: true }
  }
}

function together(
  path: string,
  file: Found | undefined,
  journal: JournalContents | undefined,
  context: LoadContext,
): Recovered {
  if (file === undefined) {
    if (journal !== undefined && isNeeded(journal))
      throw new StartStopped(
        `${path} is missing, but its journal, ${journalOf(path)}, has ${countOf(journal)} that continue it`,
        'Put the file back, or start with --discard-journal to begin from the starting state without them.',
        true,
      )
    return { loaded: undefined, file, journal: undefined, hasCommits: false, isDiscarded: false }
  }
  const continued = journal && continuation(path, file.digest, journal)
  const loaded = load(path, file.bytes, continued, context)
  return {
    loaded,
    file,
    journal: continued && journal,
    hasCommits: continued !== undefined && continued.commits.length > 0,
    isDiscarded: false,
  }
}

/** The commits that a file lacks, and the revision that they follow. */
interface Continuation {
  readonly revision: number
  readonly commits: readonly PlacedCommit[]
}

/** What follows a file in its journal; undefined when the journal is about another content, and not needed. */
function continuation(path: string, digest: string, journal: JournalContents): Continuation | undefined {
  const known = journal.known.findLast(({ file }) => file === digest)
  if (known === undefined && journal.known.length > 0) {
    // An edited file may replace a journal without commits: the emulator was stopped before.
    if (!isNeeded(journal)) return undefined
    throw new StartStopped(
      `${path} was edited or replaced, but its journal, ${journalOf(path)}, has ${countOf(journal)} that continue its earlier content: the emulator was killed before it could write them into the file`,
      'Put the earlier content back to keep them, or start with --discard-journal to use the present file without them.',
      true,
    )
  }
  const { revision } = known ?? { revision: 0 }
  const commits = journal.commits.filter(({ commit }) => commit.revision > revision)
  const gap = commits.findIndex(({ commit }, n) => commit.revision !== revision + n + 1)
  const missing = commits[gap]
  if (missing !== undefined)
    throw damaged(path, { offset: missing.offset, reason: 'commits before it are missing' }, gap)
  if (journal.damage !== undefined) throw damaged(path, journal.damage, commits.length)
  return { revision, commits }
}

function isNeeded({ commits, damage }: JournalContents): boolean {
  return commits.length > 0 || damage !== undefined
}

function load(
  path: string,
  bytes: Buffer,
  continued: Continuation | undefined,
  { service, strict }: LoadContext,
): LoadedState {
  const { commits } = continued ?? { commits: [] }
  try {
    const { document, text } = parseState(path, bytes)
    const isWhole = commits.length === 0
    // An edit that was applied has the revision of the text that was edited.
    const last =
      continued === undefined ? document : { ...(document as Document), revision: continued.revision }
    const whole = isWhole ? last : replayed(path, last as Document, commits, service)
    const checked = checkDocument(whole, service, strict)
    if ('issues' in checked) throw issuesError(path, isWhole ? text : undefined, checked.issues)
    return { state: checked.state, floor: floorAfter(commits.map(({ commit }) => commit)) }
  } catch (error) {
    if (!(error instanceof UnusableState)) throw error
    throw new StartStopped(
      error.message,
      `Fix the file, or move it away and start with --discard-journal to begin from the starting state: mv "${path}" "${path}.unusable"`,
      false,
    )
  }
}

function replayed(
  path: string,
  document: Document,
  commits: readonly PlacedCommit[],
  service: Service,
): Document {
  const store = storeOf(document)
  for (const [n, { commit, offset }] of commits.entries()) {
    try {
      store.replay(commit)
    } catch (error) {
      throw damaged(path, { offset, reason: errorMessage(error) }, n)
    }
  }
  const { sandbox, limits, counters } = document
  const collections = new Set([...service.collections.keys(), ...Object.keys(document.collections)])
  const clock = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  return toDocument(store, collections, { sandbox, clock, limits, requests: counters.requests })
}

/**
 * The earliest instant for the clock, in virtual milliseconds: that of the last commit since the clock was set, or 0. A commit
 * that sets the clock may move it back, for example at a reset.
 */
function floorAfter(commits: readonly LoggedCommit[]): number {
  return commits.reduce((floor, { at, changes }) => {
    const sets = changes.some((change) => {
      const [table, id] = changedRow(change)
      return table === SANDBOX_TABLE && id === CLOCK
    })
    return sets ? 0 : Math.max(floor, Date.parse(at))
  }, 0)
}

function countOf({ commits, damage }: JournalContents): string {
  const count = counted(commits.length, 'change')
  return damage === undefined ? count : `at least ${count}`
}

function damaged(path: string, { offset, reason }: Damage, before: number): StartStopped {
  const journal = journalOf(path)
  const cut =
    before === 0
      ? ''
      : `To keep the ${before === 1 ? 'change' : `${before} changes`} before it, cut the journal there: truncate -s ${offset} "${journal}". `
  return new StartStopped(
    `${journal}, byte ${offset}: ${reason}`,
    `${cut}To use ${path} without its journal, start with --discard-journal.`,
    true,
  )
}
