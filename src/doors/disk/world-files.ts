import { checkDocument } from '../../kernel/state/document.ts'
import type { WorldState } from '../../kernel/state/state.ts'
import { factsOf, type SnapshotFacts } from '../../kernel/worlds/snapshots.ts'
import { parseState, StateFileSyntax, textOf } from './adapter.ts'
import { type FileStat, type Files, reasonOf, sameStat } from './files.ts'
import { issueLines } from './issue-lines.ts'
import type { LoadContext } from './recovery.ts'

/** So many worlds, those used last, are kept in memory; others are read again. */
const WORLDS = 8

/** A file as it was when it was last written or read, and what is in it. */
interface Look {
  readonly stat: FileStat
  readonly facts: SnapshotFacts
}

type Contents = { readonly world: WorldState } | { readonly problem: string; readonly passing: boolean }

/** Files that each hold a world at rest. What has been read of one is remembered as long as the file stays as it was. */
export class WorldFiles {
  readonly #files: Files
  readonly #context: LoadContext
  readonly #looks = new Map<string, Look>()
  /** Oldest use first. */
  readonly #worlds = new Map<string, WorldState>()

  constructor(files: Files, context: LoadContext) {
    this.#files = files
    this.#context = context
  }

  /** What is known of a file without reading it. */
  remembered(path: string): SnapshotFacts | undefined {
    const look = this.#looks.get(path)
    if (look === undefined) return undefined
    const stat = this.#files.stat(path)
    return stat !== undefined && sameStat(stat, look.stat) ? look.facts : undefined
  }

  /** What is in a file; undefined when there is none. */
  facts(path: string): SnapshotFacts | undefined {
    return this.remembered(path) ?? this.#look(path)
  }

  /** The world in a file; undefined when there is none, or none that can be used. */
  world(path: string): WorldState | undefined {
    if (this.remembered(path) === undefined || !this.#worlds.has(path)) this.#look(path)
    const world = this.#worlds.get(path)
    if (world !== undefined) this.#use(path, world)
    return world
  }

  /** A file has been written that holds this world. */
  wrote(path: string, stat: FileStat, world: WorldState): void {
    this.#remember(path, stat, { world })
  }

  forget(path: string): void {
    this.#looks.delete(path)
    this.#worlds.delete(path)
  }

  #look(path: string): SnapshotFacts | undefined {
    this.forget(path)
    const stat = this.#files.stat(path)
    const contents = stat && this.#read(path)
    return stat && contents && this.#remember(path, stat, contents)
  }

  #read(path: string): Contents | undefined {
    const { service, ledger, strict } = this.#context
    try {
      const bytes = this.#files.read(path)
      if (bytes === undefined) return undefined
      const text = textOf(bytes, path)
      const checked = checkDocument(parseState(text, path), service, ledger, strict)
      return 'issues' in checked
        ? { problem: issueLines(path, text, checked.issues).message, passing: false }
        : checked
    } catch (error) {
      if (error instanceof StateFileSyntax) return { problem: error.message, passing: false }
      return { problem: `${path} cannot be read: ${reasonOf(error)}`, passing: true }
    }
  }

  #remember(path: string, stat: FileStat, contents: Contents): SnapshotFacts {
    this.forget(path)
    const facts =
      'world' in contents
        ? factsOf(contents.world, this.#context.service)
        : { saved_at: null, revision: null, records: null, problem: contents.problem }
    // What the system could not do now it may do next time.
    if (!('passing' in contents && contents.passing)) this.#looks.set(path, { stat, facts })
    if ('world' in contents) this.#use(path, contents.world)
    return facts
  }

  #use(path: string, world: WorldState): void {
    this.#worlds.delete(path)
    this.#worlds.set(path, world)
    const [oldest] = this.#worlds.keys()
    if (this.#worlds.size > WORLDS && oldest !== undefined) this.#worlds.delete(oldest)
  }
}
