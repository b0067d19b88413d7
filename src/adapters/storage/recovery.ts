import type { AssumptionCatalog } from '../../core/assumptions.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Service } from '../../core/service.ts'
import { changedRow, type LoggedCommit } from '../../core/state/commit.ts'
import { checkDocument } from '../../core/state/document.ts'
import { salvage } from '../../core/state/salvage.ts'
import {
  CLOCK,
  CORE_TABLES,
  type Document,
  FORMAT,
  SANDBOX_TABLE,
  type SandboxState,
  storeOf,
  toDocument,
} from '../../core/state/state.ts'
import type { Store } from '../../core/state/store.ts'
import { type ClockRow, hostTime } from '../../core/time/clock.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { errorMessage, refuseOther } from './files.ts'
import {
  commitsAfter,
  type GenerationContents,
  isCheckpointOf,
  JournalCorrupt,
  type PlacedCommit,
  readJournal,
} from './journal-format.ts'
import { OldFiles } from './migration.ts'
import { earlierGenerations, journalOf, previousOf } from './names.ts'
import type { SetAside } from './set-aside.ts'
import { type FoundState, findState, isDocument } from './state-file.ts'

/** The rules that the state of a sandbox is checked against. */
export interface LoadContext {
  readonly service: Service
  readonly assumptions: AssumptionCatalog
  readonly strict: boolean
}

/** The state of a sandbox on the disk. */
export interface LoadedState {
  readonly state: SandboxState
  /** The clock must not be before this instant: virtual milliseconds of the last commit since the clock was set, or 0. */
  readonly floor: number
}

/** The state that the files of a sandbox hold. */
export interface Recovered {
  readonly loaded: LoadedState
  readonly found: FoundState
  /** The state file is the `checkpoint` that the state comes from, `known` and needs no more work, or `edited`. */
  readonly file: 'checkpoint' | 'known' | 'edited'
  /** The document that was edited; undefined where it is not known. */
  readonly base?: Document
  /** When the file must be written: `now`, before anything else, if the journal does not continue the state file. */
  readonly checkpoint: 'now' | 'soon' | 'unneeded'
  /** The revision of the previous checkpoint, if the state comes from it. */
  readonly previous?: number
  /** Files of version 0.1.0 that have been copied, and are removed after the first checkpoint. */
  readonly old?: readonly string[]
}

/**
 * Reads a state file, the previous checkpoint, and the journal. An unedited state file is trusted. Otherwise the previous
 * checkpoint is used, with the journal that continues it. Unusable files are moved aside and reported. Undefined when there
 * is no usable state. Throws `NotAFile`, and `NewerFormat` without changing any file.
 */
export async function recover(context: LoadContext, aside: SetAside): Promise<Recovered | undefined> {
  return new Recovery(context, aside).run()
}

class Recovery {
  readonly #context: LoadContext
  readonly #aside: SetAside
  #generations: readonly GenerationContents[] = []

  constructor(context: LoadContext, aside: SetAside) {
    this.#context = context
    this.#aside = aside
  }

  run(): Recovered | undefined {
    const { files, path } = this.#aside
    const found = findState(files, path)
    const checkpoint =
      found?.isUnedited === true
        ? { sha256: found.sha256, revision: (found.raw as Document).revision }
        : undefined
    const [journal, previous] = [journalOf(path), previousOf(path)]
    this.#generations = readJournal(files, journal, checkpoint)
    // These files are checked now: they are only read when they are needed, but the next checkpoint replaces them.
    for (const each of [previous, ...earlierGenerations(files, journal)]) refuseOther(each, files.stat(each))
    const old = new OldFiles(this.#aside)
    if (found?.format === 1 && files.stat(previous) === undefined) {
      const commits = old.migrate(found)
      if (commits === undefined) return this.#salvaged([found], old.paths)
      const loaded = this.#loaded(found, commits)
      if (loaded !== undefined) return { loaded, found, file: 'known', checkpoint: 'now', old: old.paths }
    }
    old.removeContained(found)
    this.#cutTornLines()
    return found === undefined ? this.#withoutFile() : this.#choose(found)
  }

  #choose(found: FoundState): Recovered | undefined {
    const { files, path } = this.#aside
    const last = this.#generations.at(-1)
    const known = last?.header === undefined ? undefined : last
    const isOurs = known === undefined || isCheckpointOf(known, found.sha256)
    if (found.isUnedited && isOurs) {
      const { commits } = this.#follow(found.raw as Document)
      const loaded = this.#loaded(found, commits)
      const checkpoint = commits.length > 0 ? 'soon' : 'unneeded'
      if (loaded !== undefined) return { loaded, found, file: 'checkpoint', checkpoint }
    }
    const previous = findState(files, previousOf(path))
    if (previous?.isUnedited) {
      const recovered = this.#fromPrevious(previous, found, known?.file?.sha256)
      if (recovered !== undefined) return recovered
    }
    return this.#salvaged(previous === undefined ? [found] : [found, previous])
  }

  #fromPrevious(previous: FoundState, found: FoundState, known: string | undefined): Recovered | undefined {
    const document = previous.raw as Document
    const revision = (found.raw as Document | null | undefined)?.revision ?? Number.NaN
    const { commits, isWhole } = this.#follow(document)
    const loaded = this.#loaded(previous, commits)
    if (loaded === undefined) return undefined
    const common = { loaded, found, checkpoint: 'soon', previous: document.revision } as const
    // The line that names this checkpoint was lost with the end of the journal.
    if (found.isUnedited && revision === loaded.state.store.revision) return { ...common, file: 'checkpoint' }
    if (isWhole && known === found.sha256) return { ...common, file: 'known' }
    if (!isDocument(found)) {
      this.#aside.recovered(found)
      return { ...common, file: 'known' }
    }
    const start = document.revision
    if (!(revision >= start && revision <= start + commits.length)) return { ...common, file: 'edited' }
    const upTo = commits.slice(0, revision - start)
    return {
      ...common,
      file: 'edited',
      base: documentAfter(document, upTo, this.#context.service).document,
    }
  }

  // Neither file is an unedited checkpoint: a document that can be read is used, without the journal.
  #salvaged(candidates: readonly FoundState[], old: readonly string[] = []): Recovered | undefined {
    const { path } = this.#aside
    const [found] = candidates as readonly [FoundState]
    const readable = candidates.find(isDocument)
    const loaded = readable && this.#loaded(readable, [], frameOf(readable.raw as JsonObject))
    if (readable === undefined || loaded === undefined) {
      this.#aside.corruptFile(found, this.#generations)
      return undefined
    }
    if (readable !== found) this.#aside.recovered(found)
    const later = this.#commitsAfter(loaded.state.store.revision)
    const damage = this.#generations.find(({ corrupt }) => corrupt !== undefined)?.corrupt
    if (later > 0 || damage !== undefined) {
      this.#aside.orphaned(
        `${damage === undefined ? '' : `${damage.message}. `}${path} was changed, and the previous checkpoint, ${previousOf(path)}, is missing or damaged. The file is used without the ${later} later changes of its journal.`,
        this.#generations.map((each) => each.path),
      )
    }
    return { loaded, found, file: 'known', checkpoint: 'now', old }
  }

  #commitsAfter(revision: number): number {
    return this.#generations
      .flatMap(({ commits }) => commits)
      .filter(({ commit }) => commit.revision > revision).length
  }

  #follow({ revision }: Document) {
    const { commits, corrupt } = commitsAfter(this.#generations, revision)
    if (corrupt !== undefined)
      this.#aside.corruptJournal(corrupt, this.#generations, revision + commits.length)
    return { commits, isWhole: corrupt === undefined }
  }

  /**
   * The state of a document after these commits, without the invalid records. A commit that does not fit ends the replay, and
   * no part of it is in the state.
   * @param frame default fields for a document that is not trusted, which is then used without commits
   */
  #loaded(
    { raw, text }: FoundState,
    commits: readonly PlacedCommit[],
    frame?: Document,
  ): LoadedState | undefined {
    const { service, assumptions, strict } = this.#context
    const check = (document: unknown) => checkDocument(document, service, assumptions, strict)
    const replayed =
      frame === undefined ? this.#replayed(raw as Document, commits) : { document: raw, fitting: [] }
    const floor = floorAfter(replayed.fitting.map(({ commit }) => commit))
    const checked = check(replayed.document)
    if (!('issues' in checked)) return { state: checked.state, floor }
    const usable = salvage(replayed.document, check, frame ?? frameOf(replayed.document as never))
    if (usable === undefined) return undefined
    this.#aside.records(usable.setAside, commits.length === 0 ? text : '')
    return { state: usable.state, floor }
  }

  #replayed(document: Document, commits: readonly PlacedCommit[]) {
    const after = documentAfter(document, commits, this.#context.service)
    if (after.misfit === undefined) return { document: after.document, fitting: commits }
    const { placed, reason } = after.misfit
    const fitting = commits.slice(0, commits.indexOf(placed))
    const corrupt = new JournalCorrupt(placed.path, placed.offset, reason)
    this.#aside.corruptJournal(corrupt, this.#generations, document.revision + fitting.length)
    return { document: after.document, fitting }
  }

  #withoutFile(): undefined {
    const { files, path } = this.#aside
    const commits = this.#commitsAfter(-1)
    const previous = previousOf(path)
    const hasPrevious = files.stat(previous) !== undefined
    if (commits === 0 && !hasPrevious) return
    this.#aside.orphaned(
      `${path} is missing, but ${hasPrevious ? 'the previous checkpoint' : `its journal with ${commits} changes`} exists. The emulator starts from its starting state.`,
      [...this.#generations.map((each) => each.path), ...(hasPrevious ? [previous] : [])],
    )
  }

  #cutTornLines(): void {
    for (const { path, torn } of this.#generations) {
      if (torn === undefined) continue
      this.#aside.files.truncatePath(path, torn)
      this.#aside.notify(
        'warn',
        'journal_torn',
        `${path}, byte ${torn}: the last line of the journal is incomplete: a write was cut off before it was acknowledged. The incomplete line has been removed.`,
      )
    }
  }
}

/** A document after some commits. */
interface Replayed {
  readonly document: Document
  /** The commit that did not fit. Neither it nor those after it are in the document. */
  readonly misfit: { readonly placed: PlacedCommit; readonly reason: string } | undefined
}

/** Replays commits on a checkpoint. */
function documentAfter(document: Document, commits: readonly PlacedCommit[], service: Service): Replayed {
  const store = storeOf(document)
  for (const [n, placed] of commits.entries()) {
    try {
      store.replay(placed.commit)
    } catch (error) {
      // Half of the commit may be in the store, so the replay is repeated without it.
      const before = documentAfter(document, commits.slice(0, n), service)
      return { ...before, misfit: { placed, reason: errorMessage(error) } }
    }
  }
  return {
    document: commits.length === 0 ? document : documentIn(store, document, service),
    misfit: undefined,
  }
}

// This includes collections that are unknown to this version: the check of the document reports them.
function documentIn(store: Store, before: Document, service: Service): Document {
  const { sandbox, limits, counters } = before
  const collections = new Set([...service.collections.keys(), ...Object.keys(before.collections)])
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

/** A document without records, for the fields that a damaged document lacks. */
function frameOf(raw: Readonly<Record<string, unknown>>): Document {
  const events = Array.isArray(raw.schedule) ? raw.schedule.map(sequenceOf) : []
  const tables = Object.keys(CORE_TABLES).map((key) => [key, []])
  return {
    format: FORMAT,
    revision: 0,
    sandbox: 'default',
    seed: 1,
    settings: {},
    clock: { now: formatInstant(hostTime()), rate: 1, skip_on_poll: false, wall: null },
    // Numbers that have been given out are never given out again.
    counters: { ids: 0, uuids: 0, events: events.reduce((a, b) => Math.max(a, b), 0), requests: 0 },
    collections: {},
    scenario: null,
    limits: [],
    ...Object.fromEntries(tables),
  }
}

function sequenceOf(event: unknown): number {
  const seq = isObject(event) ? Number(event.seq) : 0
  return Number.isSafeInteger(seq) ? seq : 0
}
