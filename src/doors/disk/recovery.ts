import { Low } from 'lowdb'
import type { Ledger } from '../../kernel/assumptions.ts'
import { isObject } from '../../kernel/json.ts'
import type { Service } from '../../kernel/operation.ts'
import { type LoggedCommit, target } from '../../kernel/state/commit.ts'
import { checkDocument } from '../../kernel/state/document.ts'
import { CLOCK, type Document, FORMAT, WORLD, type WorldState } from '../../kernel/state/state.ts'
import { type Placing, StateFileAdapter, StateFileSyntax } from './adapter.ts'
import { type FileStat, type Files, reasonOf } from './files.ts'
import { issueLines } from './issue-lines.ts'
import { earlierGenerations } from './log.ts'
import type { Base } from './log-format.ts'
import {
  follow,
  type GenerationContents,
  LogCorrupt,
  NewerFormat,
  type PlacedCommit,
  readGeneration,
} from './log-reader.ts'
import type { Notice, OnNotice } from './notice.ts'
import { SetAside } from './set-aside.ts'

/** What a world is checked against while it is loaded. */
export interface LoadContext {
  readonly service: Service
  readonly ledger: Ledger
  readonly strict: boolean
}

/** A world as it was left, and what its clock must not fall behind. */
export interface LoadedWorld {
  readonly world: WorldState
  /** Virtual milliseconds of the last commit since the clock was set, 0 when there is none. */
  readonly floor: number
}

/** What was found under the file's name. */
export interface Recovered {
  readonly loaded: LoadedWorld
  readonly document: Document
  readonly stat: FileStat
  readonly base: Base
  /** Whether lines of the log were needed beyond the file, or the file is not as the emulator wrote it. */
  readonly wantsCheckpoint: boolean
  /** Whether the log still holds lines that the file lacks. */
  readonly needsLog: boolean
}

/**
 * Reads a state file and its log. Whatever cannot be used is moved aside under a name of its own and said; undefined when
 * nothing usable is there. Throws {@link NewerFormat}, with everything left as it was.
 */
export async function recover(
  files: Files,
  path: string,
  context: LoadContext,
  onNotice: OnNotice,
): Promise<Recovered | undefined> {
  return new Recovery(files, path, context, onNotice).run()
}

class Recovery {
  readonly #files: Files
  readonly #path: string
  readonly #context: LoadContext
  readonly #onNotice: OnNotice
  readonly #aside: SetAside
  #generations: readonly GenerationContents[] = []

  constructor(files: Files, path: string, context: LoadContext, onNotice: OnNotice) {
    this.#files = files
    this.#path = path
    this.#context = context
    this.#onNotice = onNotice
    this.#aside = new SetAside(files, path, onNotice)
  }

  async run(): Promise<Recovered | undefined> {
    const log = `${this.#path}.log`
    const paths = [...earlierGenerations(this.#files, log), log].filter((each) => this.#files.stat(each))
    this.#generations = paths.map((each) => readGeneration(this.#files, each))
    const stat = this.#files.stat(this.#path)
    const adapter = new StateFileAdapter(this.#files, this.#path, NEVER_WRITTEN)
    try {
      const raw = await readThrough(adapter)
      if (isObject(raw) && Number(raw.format) > FORMAT)
        throw new NewerFormat(this.#path, Number(raw.format), FORMAT)
      this.#cutTornLines()
      if (stat === undefined) return this.#withoutFile()
      return this.#from(raw, adapter, stat)
    } catch (error) {
      if (!(error instanceof StateFileSyntax)) throw error
      this.#aside.corruptFile(error.message, error.line, this.#generations)
      return undefined
    }
  }

  #from(raw: unknown, { sha256, text }: StateFileAdapter, stat: FileStat): Recovered | undefined {
    const checked = this.#check(raw)
    if ('issues' in checked) {
      const { message, line } = issueLines(this.#path, text, checked.issues)
      this.#aside.corruptFile(message, line, this.#generations)
      return undefined
    }
    const document = raw as Document
    const own = this.#generations.some(({ digests }) => digests.includes(sha256))
    const adopted = this.#adopted(sha256)
    const commits =
      adopted !== undefined
        ? [adopted, ...this.#follow(adopted.commit.revision)]
        : own
          ? this.#follow(document.revision)
          : this.#afterEdit(document)
    const loaded = this.#replayed(checked.world, document, commits)
    const needsLog = commits.length > 0
    const base = { revision: document.revision, sha256 }
    return { loaded, document, stat, base, needsLog, wantsCheckpoint: needsLog || !own }
  }

  // Before anything else: a log that was begun on an edited file knows that file's digest, too.
  #adopted(sha256: string): PlacedCommit | undefined {
    return this.#generations.flatMap(({ adoptions }) => adoptions).findLast(({ adopts }) => adopts === sha256)
  }

  #follow(revision: number): readonly PlacedCommit[] {
    const { commits, corrupt } = follow(this.#generations, revision)
    if (corrupt !== undefined) this.#aside.corruptLog(corrupt, this.#generations, revision + commits.length)
    return commits
  }

  // The lines of the log are differences to a file that is not there any more: they fit the edited one only by chance.
  #afterEdit({ revision }: Document): readonly PlacedCommit[] {
    const unmerged = this.#generations.flatMap(({ commits }) =>
      commits.filter(({ commit }) => commit.revision > revision),
    )
    const damage = this.#damage(revision)
    if (unmerged.length > 0 || damage !== undefined) {
      this.#aside.orphanedLog(this.#whyOrphaned(unmerged.length, damage), this.#generations)
    } else if (this.#generations.length > 0) {
      this.#say({
        level: 'info',
        event: 'edited_while_stopped',
        message: `${this.#path} was edited while the emulator was not running. It is in force as edited.`,
      })
    }
    return []
  }

  #damage(revision: number): LogCorrupt | undefined {
    const [first] = this.#generations
    const { corrupt } = follow(this.#generations, first?.header?.revision ?? revision)
    const headless = this.#generations.find(({ header }) => header === undefined)
    return corrupt ?? (headless && new LogCorrupt(headless.path, 0, 'the log has no header'))
  }

  // The digest of the file as the emulator wrote it may stand behind the damage.
  #whyOrphaned(unmerged: number, damage: LogCorrupt | undefined): string {
    return damage === undefined
      ? `${this.#path} was edited while the emulator was not running, and its log holds ${unmerged} changes that the file lacks. The file as edited is in force, without them.`
      : `${damage.message}. So it cannot be told whether ${this.#path} is as the emulator wrote it. It is in force as it is, without the ${unmerged} later changes of the log that can still be read.`
  }

  #withoutFile(): undefined {
    const commits = this.#generations.flatMap((each) => each.commits)
    if (commits.length === 0) return
    const reason = `${this.#path} is missing, but its log holds ${commits.length} changes that were made on it. The emulator starts from its starting world.`
    this.#aside.orphanedLog(reason, this.#generations)
  }

  // A commit that does not fit ends the replay; the world is then built again, since half of that commit may be in it.
  #replayed(world: WorldState, document: Document, commits: readonly PlacedCommit[]): LoadedWorld {
    for (const [n, { commit, path, offset }] of commits.entries()) {
      try {
        world.store.replay(commit)
      } catch (error) {
        const corrupt = new LogCorrupt(path, offset, reasonOf(error))
        this.#aside.corruptLog(
          corrupt,
          this.#generations,
          commits[n - 1]?.commit.revision ?? document.revision,
        )
        const again = this.#check(document)
        if ('issues' in again) throw error
        return this.#replayed(again.world, document, commits.slice(0, n))
      }
    }
    return { world, floor: floorAfter(commits.map(({ commit }) => commit)) }
  }

  #check(raw: unknown) {
    return checkDocument(raw, this.#context.service, this.#context.ledger, this.#context.strict)
  }

  #cutTornLines(): void {
    for (const { path, torn } of this.#generations) {
      if (torn === undefined) continue
      this.#files.truncatePath(path, torn)
      this.#say({
        level: 'warn',
        event: 'log_torn',
        message: `${path}, byte ${torn}: the log ends in half a line, from a write that was cut off before it was acknowledged. The half has been removed.`,
      })
    }
  }

  #say(notice: Omit<Notice, 'file'>): void {
    this.#onNotice({ ...notice, file: this.#path })
  }
}

/**
 * The instant that the clock must not fall behind: that of the last commit, unless the clock was set by it or after it. The
 * world's clock may have been set back, when it started anew.
 */
function floorAfter(commits: readonly LoggedCommit[]): number {
  return commits.reduce((floor, { at, changes }) => {
    const sets = changes.some((change) => {
      const [table, id] = target(change)
      return table === WORLD && id === CLOCK
    })
    return sets ? 0 : Math.max(floor, Date.parse(at))
  }, 0)
}

const NEVER_WRITTEN: Placing = { prepare: async () => {}, check: () => {}, placed: () => {} }

// lowdb keeps what it was given when the file is absent, or says something falsy such as `null`.
async function readThrough(adapter: StateFileAdapter): Promise<unknown> {
  const absent = {} as Document
  const low = new Low<Document>(adapter, absent)
  await low.read()
  return low.data === absent ? undefined : low.data
}
