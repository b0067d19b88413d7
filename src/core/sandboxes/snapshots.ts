import * as z from 'zod'
import { didYouMean } from '../did-you-mean.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import type { ShapeOf } from '../fields.ts'
import type { Service } from '../service.ts'
import { checkDocument } from '../state/document.ts'
import { hasMask, unmaskedDocument } from '../state/masked.ts'
import {
  CLOCK,
  countRecords,
  type Document,
  SANDBOX_TABLE,
  type SandboxState,
  toDocument,
} from '../state/state.ts'
import type { ClockRow } from '../time/clock.ts'
import { runDueEvents } from '../time/run-events.ts'
import { replaceState } from './change.ts'
import { refuseBadName } from './name-field.ts'
import type { Sandbox } from './sandbox.ts'

/** More snapshots than this in one sandbox mean that a client saves in an endless loop. */
export const MAX_SNAPSHOTS = 100

/** A snapshot as lists show it. Of one that cannot be used nothing is known but its name and the problem. */
export const snapshotView = () =>
  z.strictObject({
    name: z.string(),
    /** The virtual instant of its clock. */
    saved_at: z.string().nullable(),
    /** Number of the last commit that it contains. */
    revision: z.int().nullable(),
    /** How many records its collections hold together. */
    records: z.int().nullable(),
    problem: z.string().nullable(),
  })

export type SnapshotView = ShapeOf<typeof snapshotView>

/** What is known of a snapshot beside its name. */
export type SnapshotFacts = Omit<SnapshotView, 'name'>

/** A saved snapshot, and whether it replaced one of the same name. */
export interface Kept {
  readonly entry: SnapshotView
  readonly replaced: boolean
}

/** Where the snapshots of one sandbox are stored. Names were checked before. */
export interface SnapshotStorage {
  /** The names of all that it holds, in order. */
  names(): readonly string[]
  /** Undefined when there is none of that name. */
  describe(name: string): Promise<SnapshotView | undefined>
  /** The sandbox; undefined when there is none of that name. Refuses with the reason when it cannot be used. */
  read(name: string): Promise<SandboxState | undefined>
  /** Keeps a sandbox under a name; it takes the place of the one before, whole or not at all. */
  write(name: string, state: SandboxState): Promise<void>
  remove(name: string): Promise<void>
  /** What the sandbox started from, where that is kept: a sandbox of its own that the process does not know any more. */
  start(): Promise<SandboxState | undefined>
}

/**
 * The snapshots of one sandbox: whole sandboxes at rest, clock included. They share the records with the sandbox and with each
 * other; restoring one does not use it up. They outlive resets, and the process where the sandbox does.
 */
export class Snapshots {
  readonly #sandbox: Sandbox
  readonly #storage: SnapshotStorage
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(sandbox: Sandbox, snapshotStore: SnapshotStorage = new MemorySnapshots(sandbox.service)) {
    this.#sandbox = sandbox
    this.#storage = snapshotStore
  }

  /** In the order of their names. */
  async list(): Promise<readonly SnapshotView[]> {
    const entries: SnapshotView[] = []
    for (const name of this.#storage.names()) {
      const entry = await this.#storage.describe(name)
      if (entry !== undefined) entries.push(entry)
    }
    return entries
  }

  /** Keeps the sandbox as it is at the time of the call, after everything that is due has happened. */
  async save(name: string): Promise<Kept> {
    refuseBadName(name, '/name')
    runDueEvents(this.#sandbox)
    const state = this.#sandbox.capture()
    return this.#inTurn(() => this.#keep(name, state))
  }

  /**
   * Keeps a state document as a snapshot, or refuses it whole with every issue. A masked secret is that of the snapshot
   * which it replaces, or else that of the sandbox.
   */
  async import(name: string, document: unknown): Promise<Kept> {
    refuseBadName(name, '/path/name')
    const { service, assumptions, options } = this.#sandbox
    const whole = hasMask(document) ? await this.#unmasked(name, document) : document
    const checked = checkDocument(whole, service, assumptions, options.strict)
    refuseInvalid('issues' in checked ? checked.issues : [])
    const { state } = checked as { readonly state: SandboxState } // without a sandbox there was an issue
    return this.#inTurn(() => this.#keep(name, state))
  }

  async #unmasked(name: string, document: unknown): Promise<unknown> {
    const { service } = this.#sandbox
    const isThere = this.#storage.names().includes(name)
    // One that cannot be used is about to be replaced, and has nothing to keep.
    const before = isThere ? await this.#storage.read(name).catch(() => undefined) : undefined
    const kept = before && unmaskedDocument(document, () => documentOf(before, service, this.#sandbox.name))
    return unmaskedDocument(kept ?? document, () => this.#sandbox.document())
  }

  /** The state document of the moment at which it was saved. */
  async export(name: string): Promise<Document> {
    return documentOf(await this.sandbox(name), this.#sandbox.service, this.#sandbox.name)
  }

  /** Takes everything back to a snapshot, the clock included. Durable as any other commit. */
  restore(name: string): Promise<void> {
    return this.#inTurn(async () => replaceState(this.#sandbox, await this.sandbox(name)))
  }

  async delete(name: string): Promise<void> {
    await this.#inTurn(async () => {
      if (!this.#storage.names().includes(name)) this.#unknown(name)
      await this.#storage.remove(name)
    })
  }

  /** The sandbox at rest that a snapshot holds; not to be written to. */
  async sandbox(name: string): Promise<SandboxState> {
    // Only what is listed is looked for: a name comes from a path.
    const found = this.#storage.names().includes(name) ? await this.#storage.read(name) : undefined
    return found ?? this.#unknown(name)
  }

  /** What the sandbox started from, where only the disk knows it. */
  start(): Promise<SandboxState | undefined> {
    return this.#storage.start()
  }

  /** Lets what is under way end, and refuses the rest: the sandbox goes. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#last
  }

  async #keep(name: string, state: SandboxState): Promise<Kept> {
    const names = this.#storage.names()
    const replaced = names.includes(name)
    if (!replaced && names.length >= MAX_SNAPSHOTS) {
      refuse('conflict', {
        detail: `The sandbox "${this.#sandbox.name}" has ${MAX_SNAPSHOTS} snapshots, which is as many as there can be.`,
        mitigation:
          'DELETE /__emulator/snapshots/{name} removes those that are no longer needed; saving under a name that is there replaces that one.',
      })
    }
    await this.#storage.write(name, state)
    return { entry: { name, ...factsOf(state, this.#sandbox.service) }, replaced }
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
      detail: `The sandbox "${this.#sandbox.name}" has no snapshot "${name}".${didYouMean(name, this.#storage.names())}`,
      mitigation: 'GET /__emulator/snapshots lists them; POST /__emulator/snapshots saves one.',
    })
  }
}

/** Snapshots that end with the process. */
class MemorySnapshots implements SnapshotStorage {
  readonly #service: Service
  readonly #states = new Map<string, SandboxState>()

  constructor(service: Service) {
    this.#service = service
  }

  names(): readonly string[] {
    return [...this.#states.keys()].sort()
  }

  async describe(name: string): Promise<SnapshotView | undefined> {
    const state = this.#states.get(name)
    return state && { name, ...factsOf(state, this.#service) }
  }

  async read(name: string): Promise<SandboxState | undefined> {
    return this.#states.get(name)
  }

  async write(name: string, state: SandboxState): Promise<void> {
    this.#states.set(name, state)
  }

  async remove(name: string): Promise<void> {
    this.#states.delete(name)
  }

  async start(): Promise<undefined> {
    return undefined
  }
}

/** A sandbox at rest as the document that shows it. @param sandbox whose it is */
export function documentOf(
  { store, limits, log }: SandboxState,
  service: Service,
  sandbox: string,
): Document {
  const clock = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  const requests = log?.requests ?? 0
  return toDocument(store, service.collections.keys(), { sandbox, clock, limits, requests })
}

/** What a list says of a sandbox at rest. */
export function factsOf({ store }: SandboxState, { collections }: Service): SnapshotFacts {
  const { now } = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  return {
    saved_at: now,
    revision: store.revision,
    records: countRecords(store, collections.keys()),
    problem: null,
  }
}
