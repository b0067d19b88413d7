import { z } from 'zod'
import { didYouMean } from '../did-you-mean.ts'
import { refuse } from '../errors.ts'
import type { ShapeOf } from '../fields.ts'
import type { Service } from '../service.ts'
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
import { checkedState, replaceState } from './change.ts'
import { refuseBadName } from './name-field.ts'
import type { Sandbox } from './sandbox.ts'

/** More snapshots than this in one sandbox mean that a client saves in an endless loop. */
export const MAX_SNAPSHOTS = 100

/** A snapshot as lists show it. A snapshot that cannot be used has only a name and a problem; its other fields are null. */
export const snapshotView = () =>
  z.strictObject({
    name: z.string(),
    /** The virtual instant of its clock. */
    saved_at: z.string().nullable(),
    /** Number of the last commit that it contains. */
    revision: z.int().nullable(),
    /** The number of records in all its collections together. */
    records: z.int().nullable(),
    problem: z.string().nullable(),
  })

export type SnapshotView = ShapeOf<typeof snapshotView>

/** The fields of a snapshot in lists, except for its name. */
export type SnapshotFacts = Omit<SnapshotView, 'name'>

/** A saved snapshot, and whether it replaced one of the same name. */
export interface Kept {
  readonly entry: SnapshotView
  readonly replaced: boolean
}

/** Where the snapshots of one sandbox are stored. Names were checked before. */
export interface SnapshotStorage {
  /** The names of all snapshots, in order. */
  names(): readonly string[]
  /** A snapshot as lists show it; undefined when there is none of that name. */
  describe(name: string): Promise<SnapshotView | undefined>
  /** The state; undefined when there is none of that name. Refuses with the reason when it cannot be used. */
  read(name: string): Promise<SandboxState | undefined>
  /** Stores a state under a name. It replaces an earlier one as a whole, or not at all. */
  write(name: string, state: SandboxState): Promise<void>
  remove(name: string): Promise<void>
  /** The stored starting state of the sandbox, needed after a restart of the process; undefined when none is stored. */
  start(): Promise<SandboxState | undefined>
}

/**
 * The snapshots of one sandbox: whole states, clock included. They share records with the sandbox and with each other. Each
 * can be restored any number of times. They survive resets, and also a restart of the process if the sandbox persists.
 */
export class Snapshots {
  readonly #sandbox: Sandbox
  readonly #storage: SnapshotStorage
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(sandbox: Sandbox, snapshotStore = snapshotsInMemory(sandbox.service)) {
    this.#sandbox = sandbox
    this.#storage = snapshotStore
  }

  /** All snapshots, in the order of their names. */
  async list(): Promise<readonly SnapshotView[]> {
    const entries: SnapshotView[] = []
    for (const name of this.#storage.names()) {
      const entry = await this.#storage.describe(name)
      if (entry !== undefined) entries.push(entry)
    }
    return entries
  }

  /** Saves the state at the time of the call, after all due events have run. Replaces a snapshot of the same name. */
  async save(name: string): Promise<Kept> {
    refuseBadName(name, '/name')
    runDueEvents(this.#sandbox)
    const state = this.#sandbox.capture()
    return this.#inTurn(() => this.#keep(name, state))
  }

  /**
   * Saves a state document as a snapshot, or refuses the whole document with every issue. A masked secret means that of the
   * snapshot that is replaced, or else that of the sandbox.
   */
  async import(name: string, document: unknown): Promise<Kept> {
    refuseBadName(name, '/path/name')
    const whole = hasMask(document) ? await this.#unmasked(name, document) : document
    const state = checkedState(this.#sandbox, whole)
    return this.#inTurn(() => this.#keep(name, state))
  }

  async #unmasked(name: string, document: unknown): Promise<unknown> {
    const { service } = this.#sandbox
    const isThere = this.#storage.names().includes(name)
    // A snapshot that cannot be used has no secrets to keep, and will be replaced.
    const before = isThere ? await this.#storage.read(name).catch(() => undefined) : undefined
    const kept = before && unmaskedDocument(document, () => documentOf(before, service, this.#sandbox.name))
    return unmaskedDocument(kept ?? document, () => this.#sandbox.document())
  }

  /** The state document of a snapshot. */
  async export(name: string): Promise<Document> {
    return documentOf(await this.sandbox(name), this.#sandbox.service, this.#sandbox.name)
  }

  /** Restores the whole state from a snapshot, the clock included. Durable like any other commit. */
  restore(name: string): Promise<void> {
    return this.#inTurn(async () => replaceState(this.#sandbox, await this.sandbox(name)))
  }

  async delete(name: string): Promise<void> {
    await this.#inTurn(async () => {
      if (!this.#storage.names().includes(name)) this.#unknown(name)
      await this.#storage.remove(name)
    })
  }

  /** The state of a snapshot, which must not be changed. Refuses an unknown name with `not_found`. */
  async sandbox(name: string): Promise<SandboxState> {
    // Only names in the list are read, because the name comes from the path of a request.
    const found = this.#storage.names().includes(name) ? await this.#storage.read(name) : undefined
    return found ?? this.#unknown(name)
  }

  /** The stored starting state of the sandbox; undefined when none is stored. */
  start(): Promise<SandboxState | undefined> {
    return this.#storage.start()
  }

  /** Waits for the call in progress, and refuses queued and later ones: the sandbox is being closed. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#last
  }

  async #keep(name: string, state: SandboxState): Promise<Kept> {
    const names = this.#storage.names()
    const replaced = names.includes(name)
    if (!replaced && names.length >= MAX_SNAPSHOTS) {
      refuse('conflict', {
        detail: `The sandbox "${this.#sandbox.name}" has ${MAX_SNAPSHOTS} snapshots, the maximum.`,
        mitigation:
          'Remove a snapshot that is no longer needed ("workspace-emulator snapshot delete NAME"), or save under an existing name: that snapshot is then replaced.',
      })
    }
    await this.#storage.write(name, state)
    return { entry: { name, ...factsOf(state, this.#sandbox.service) }, replaced }
  }

  // Runs calls one after the other, so that two calls can neither write the same name at once nor both take the last place.
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (this.#closed)
        refuse('not_found', { detail: `The sandbox "${this.#sandbox.name}" has been removed.` })
      return work()
    })
    this.#last = turn.catch(() => {})
    return turn
  }

  #unknown(name: string): never {
    return refuse('not_found', {
      detail: `The sandbox "${this.#sandbox.name}" has no snapshot "${name}".${didYouMean(name, this.#storage.names())}`,
      mitigation:
        '"workspace-emulator snapshot list" lists them; "workspace-emulator snapshot save NAME" saves one.',
    })
  }
}

/** Snapshots in memory, which are lost when the process ends. */
function snapshotsInMemory(service: Service): SnapshotStorage {
  const states = new Map<string, SandboxState>()
  return {
    names: () => [...states.keys()].sort(),
    describe: async (name) => {
      const state = states.get(name)
      return state && { name, ...factsOf(state, service) }
    },
    read: async (name) => states.get(name),
    write: async (name, state) => void states.set(name, state),
    remove: async (name) => void states.delete(name),
    start: async () => undefined,
  }
}

/** A state as a state document. @param sandbox name of its sandbox */
export function documentOf(
  { store, limits, log }: SandboxState,
  service: Service,
  sandbox: string,
): Document {
  const clock = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  const requests = log?.requests ?? 0
  return toDocument(store, service.collections.keys(), { sandbox, clock, limits, requests })
}

/** The fields of a state in a list of snapshots. */
export function factsOf({ store }: SandboxState, { collections }: Service): SnapshotFacts {
  const { now } = store.get(SANDBOX_TABLE, CLOCK) as ClockRow
  return {
    saved_at: now,
    revision: store.revision,
    records: countRecords(store, collections),
    problem: null,
  }
}
