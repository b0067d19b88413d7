import { didYouMean } from '../assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import type { Service } from '../operation.ts'
import { checkDocument } from '../state/document.ts'
import { CLOCK, countRecords, type Document, toDocument, WORLD, type WorldState } from '../state/state.ts'
import type { ClockRow } from '../time/clock.ts'
import { refuseBadName } from './names.ts'
import type { Sandbox } from './sandbox.ts'

/** More snapshots than this in one sandbox means that somebody saves without end. */
export const MOST_SNAPSHOTS = 100

/** What is known of a snapshot. One that cannot be used has a problem, and nothing else is known of it. */
export interface SnapshotFacts {
  /** The virtual instant at which its clock stands. */
  readonly saved_at: string | null
  /** Number of the last commit that it contains. */
  readonly revision: number | null
  /** How many records its collections hold together. */
  readonly records: number | null
  readonly problem: string | null
}

/** A snapshot as lists show it. */
export interface SnapshotEntry extends SnapshotFacts {
  readonly name: string
}

/** What has been put on the shelf, and whether something of that name stood there before. */
export interface Kept {
  readonly entry: SnapshotEntry
  readonly replaced: boolean
}

/** Where the snapshots of one sandbox stand. Names have been checked before they come here. */
export interface Shelf {
  /** The names of all that it holds, in order. */
  names(): readonly string[]
  /** Undefined when there is none of that name. */
  describe(name: string): Promise<SnapshotEntry | undefined>
  /** The world; undefined when there is none of that name. Refuses with the reason when it cannot be used. */
  read(name: string): Promise<WorldState | undefined>
  /** Keeps a world under a name; it takes the place of the one before, whole or not at all. */
  write(name: string, world: WorldState): Promise<void>
  remove(name: string): Promise<void>
  /** What the sandbox started from, where that is kept: a world of its own that the process does not know any more. */
  start(): Promise<WorldState | undefined>
}

/**
 * The snapshots of one sandbox: whole worlds at rest, clock included. They share the records with the world and with each
 * other; restoring one does not use it up. They outlive resets, and the process where the sandbox does.
 */
export class Snapshots {
  readonly #sandbox: Sandbox
  readonly #shelf: Shelf
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(sandbox: Sandbox, shelf: Shelf = new MemoryShelf(sandbox.service)) {
    this.#sandbox = sandbox
    this.#shelf = shelf
  }

  /** In the order of their names. */
  async list(): Promise<readonly SnapshotEntry[]> {
    const entries: SnapshotEntry[] = []
    for (const name of this.#shelf.names()) {
      const entry = await this.#shelf.describe(name)
      if (entry !== undefined) entries.push(entry)
    }
    return entries
  }

  /** Keeps the world as it is at the time of the call, after everything that is due has happened. */
  async save(name: string): Promise<Kept> {
    refuseBadName(name, '/name')
    this.#sandbox.catchUp()
    const world = this.#sandbox.capture()
    return this.#inTurn(() => this.#keep(name, world))
  }

  /** Keeps a state document as a snapshot, or refuses it whole with every issue. */
  async import(name: string, document: unknown): Promise<Kept> {
    refuseBadName(name, '/path/name')
    const { service, ledger, options } = this.#sandbox
    const checked = checkDocument(document, service, ledger, options.strict)
    refuseInvalid('issues' in checked ? checked.issues : [])
    const { world } = checked as { readonly world: WorldState } // without a world there was an issue
    return this.#inTurn(() => this.#keep(name, world))
  }

  /** The state document of the moment at which it was saved. */
  async export(name: string): Promise<Document> {
    return documentOf(await this.world(name), this.#sandbox.service, this.#sandbox.name)
  }

  /** Takes everything back to a snapshot, the clock included. Durable as any other commit. */
  restore(name: string): Promise<void> {
    return this.#inTurn(async () => this.#sandbox.become(await this.world(name)))
  }

  async delete(name: string): Promise<void> {
    await this.#inTurn(async () => {
      if (!this.#shelf.names().includes(name)) this.#unknown(name)
      await this.#shelf.remove(name)
    })
  }

  /** The world at rest that a snapshot holds; not to be written to. */
  async world(name: string): Promise<WorldState> {
    // Only what is listed is looked for: a name comes from a path.
    const found = this.#shelf.names().includes(name) ? await this.#shelf.read(name) : undefined
    return found ?? this.#unknown(name)
  }

  /** What the sandbox started from, where only the disk knows it. */
  start(): Promise<WorldState | undefined> {
    return this.#shelf.start()
  }

  /** Lets what is under way end, and refuses the rest: the sandbox goes. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#last
  }

  async #keep(name: string, world: WorldState): Promise<Kept> {
    const names = this.#shelf.names()
    const replaced = names.includes(name)
    if (!replaced && names.length >= MOST_SNAPSHOTS) {
      refuse('conflict', {
        detail: `The sandbox "${this.#sandbox.name}" has ${MOST_SNAPSHOTS} snapshots, which is as many as there can be.`,
        mitigation:
          'DELETE /__emulator/snapshots/{name} removes those that nobody needs any more; saving under a name that is there replaces that one.',
      })
    }
    await this.#shelf.write(name, world)
    return { entry: { name, ...factsOf(world, this.#sandbox.service) }, replaced }
  }

  // One after the other, so that two writers of one name cannot meet, nor two count the same last place.
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (this.#closed)
        refuse('not_found', { detail: `There is no sandbox "${this.#sandbox.name}" any more.` })
      return work()
    })
    this.#last = turn.catch(() => {})
    return turn
  }

  #unknown(name: string): never {
    return refuse('not_found', {
      detail: `The sandbox "${this.#sandbox.name}" has no snapshot "${name}".${didYouMean(name, this.#shelf.names())}`,
      mitigation: 'GET /__emulator/snapshots lists them; POST /__emulator/snapshots saves one.',
    })
  }
}

/** Snapshots that end with the process. */
class MemoryShelf implements Shelf {
  readonly #service: Service
  readonly #worlds = new Map<string, WorldState>()

  constructor(service: Service) {
    this.#service = service
  }

  names(): readonly string[] {
    return [...this.#worlds.keys()].sort()
  }

  async describe(name: string): Promise<SnapshotEntry | undefined> {
    const world = this.#worlds.get(name)
    return world && { name, ...factsOf(world, this.#service) }
  }

  async read(name: string): Promise<WorldState | undefined> {
    return this.#worlds.get(name)
  }

  async write(name: string, world: WorldState): Promise<void> {
    this.#worlds.set(name, world)
  }

  async remove(name: string): Promise<void> {
    this.#worlds.delete(name)
  }

  async start(): Promise<undefined> {
    return undefined
  }
}

/** A world at rest as the document that shows it. @param sandbox whose it is */
export function documentOf({ store, limits, log }: WorldState, service: Service, sandbox: string): Document {
  const clock = store.get(WORLD, CLOCK) as ClockRow
  const requests = log?.requests ?? 0
  return toDocument(store, service.collections.keys(), { sandbox, clock, limits, requests })
}

/** What a list says of a world at rest. */
export function factsOf({ store }: WorldState, { collections }: Service): SnapshotFacts {
  const { now } = store.get(WORLD, CLOCK) as ClockRow
  return {
    saved_at: now,
    revision: store.revision,
    records: countRecords(store, collections.keys()),
    problem: null,
  }
}
