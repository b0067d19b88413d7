import * as z from 'zod'
import { didYouMean } from '../did-you-mean.ts'
import { Refusal, refuse } from '../errors.ts'
import type { ShapeOf } from '../fields.ts'
import type { SandboxState } from '../state/state.ts'
import { replaceState } from './change.ts'
import { DEFAULT_SANDBOX } from './name.ts'
import { refuseBadName } from './name-field.ts'
import { type Origin, originWith } from './origin.ts'
import type { Sandbox } from './sandbox.ts'
import { type SnapshotStorage, Snapshots } from './snapshots.ts'

/** Where sandboxes are made; the composition root is it. */
export interface SandboxMaker {
  /** Makes the sandbox that an origin describes; `again` reads anew what may have changed since it was last made. Throws `FixturesError` or a refusal, and then nothing has happened. */
  start(origin: Origin, again?: boolean): Promise<SandboxState>
  /**
   * Makes a sandbox of a state, with its timers, and on the disk if it persists; there the start is kept too when
   * it is the sandbox's own. When it throws, nothing is left.
   */
  make(name: string, start: SandboxState, persist: boolean, own: boolean): Promise<RunningSandbox>
  /** Opens a sandbox that the disk holds. Refuses with the reason when it cannot be opened. */
  open(name: string): Promise<RunningSandbox>
  /** Whether a sandbox can outlive the process; absent: none can. */
  readonly persists?: boolean
}

/** What the owner of a sandbox should know of its files, as long as those that were kept are there. */
export const storageReport = () =>
  z.strictObject({
    /** Records, and why they are not in force. */
    set_aside: z.array(z.strictObject({ pointer: z.string(), reason: z.string() })),
    /** The file in the data directory that holds them; once it is removed, nothing is said any more. */
    kept_in: z.string().nullable(),
    /** The file that the state was read from instead of the state file. */
    recovered_from: z.string().nullable(),
  })

export type StorageReport = ShapeOf<typeof storageReport>

/** A sandbox and what keeps it alive. */
export interface RunningSandbox {
  readonly sandbox: Sandbox
  /** Where its snapshots are stored; absent: in memory. */
  readonly snapshotStore?: SnapshotStorage
  /** What there is to say of its files; absent: it has none. */
  readonly storage?: () => StorageReport | undefined
  /** Lets go of it; what is on the disk stays. */
  close(): Promise<void>
  /** Lets go of it and removes what is on the disk. */
  remove(): Promise<void>
}

/** A sandbox as lists show it. */
export interface SandboxEntry {
  readonly sandbox: Sandbox
  readonly persist: boolean
}

/** A sandbox on the disk that was not used since the process was started. */
export interface SavedSandbox {
  readonly name: string
  /** Why it cannot be opened; null when nothing is known to be wrong with it. */
  readonly problem: string | null
}

/** More sandboxes than this in one process mean that a client creates them in an endless loop. */
export const MAX_SANDBOXES = 10_000

/** How many are closed at a time: most of the time is spent waiting for the disk. */
const CLOSED_AT_ONCE = 8

/**
 * All sandboxes of one process. `default` is always there; others are made, or opened when the disk holds them, when they are
 * first named.
 */
export class Sandboxes {
  readonly #maker: SandboxMaker
  readonly #running = new Map<string, ManagedSandbox>()
  /** Those that have not been opened. */
  readonly #saved = new Map<string, SavedSandbox>()
  /** What is being made, opened or removed: later calls wait for it. */
  readonly #busy = new Map<string, Promise<unknown>>()
  /** What is being removed. */
  readonly #leaving = new Set<string>()
  readonly #listeners = new Set<(sandbox: Sandbox) => void>()
  readonly #isStrict: boolean
  #isClosed = false

  /** @param options strict: sandboxes are only created where that is asked for, not by naming them */
  constructor(maker: SandboxMaker, { strict = false } = {}) {
    this.#maker = maker
    this.#isStrict = strict
  }

  get default(): Sandbox {
    return (this.#running.get(DEFAULT_SANDBOX) as ManagedSandbox).sandbox
  }

  /** Undefined before it is first named, and while it is being made or opened. */
  get(name: string): Sandbox | undefined {
    return this.#running.get(name)?.sandbox
  }

  /** Whether there is a sandbox of that name, open or not. */
  has(name: string): boolean {
    return this.#running.has(name) || this.#saved.has(name)
  }

  /** Those that are open, in the order in which they were made or opened. */
  list(): readonly SandboxEntry[] {
    return [...this.#running.values()]
  }

  /** Of each sandbox, what its owner should know of its files. */
  storage(): ({ readonly sandbox: string; readonly problem: string | null } & StorageReport)[] {
    const opened = [...this.#running.values()].flatMap(({ sandbox, storage }) => {
      const report = storage?.()
      return report === undefined ? [] : [{ sandbox: sandbox.name, problem: null, ...report }]
    })
    const closed = this.saved().flatMap(({ name, problem }) =>
      problem === null
        ? []
        : [{ sandbox: name, problem, set_aside: [], kept_in: null, recovered_from: null }],
    )
    return [...opened, ...closed]
  }

  /** Those that are not open, in the order of their names. */
  saved(): readonly SavedSandbox[] {
    return [...this.#saved.values()]
  }

  /** Calls the listener for every sandbox that is made or opened, before any request reaches it. @returns removes the listener */
  onMade(listener: (sandbox: Sandbox) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** One that is open as lists show it, or a refusal that names the nearest. */
  show(name: string): SandboxEntry {
    return this.#running.get(name) ?? this.#unknown(name)
  }

  /** As {@link show}; one that the disk holds is opened, and one that is being made is waited for. */
  async find(name: string): Promise<SandboxEntry> {
    await this.#busy.get(name)?.catch(() => {})
    await this.openSaved(name)
    return this.show(name)
  }

  /** The snapshots of a sandbox. */
  snapshots(sandbox: Sandbox): Snapshots {
    return this.#managed(sandbox).snapshots
  }

  /** Takes in a sandbox that was made elsewhere: the default one, and those found on the disk. */
  add(opened: RunningSandbox, persist: boolean, origin: Origin = {}): void {
    const snapshots = new Snapshots(opened.sandbox, opened.snapshotStore)
    this.#running.set(opened.sandbox.name, { ...opened, persist, origin, snapshots })
    for (const listener of this.#listeners) listener(opened.sandbox)
  }

  /** Adds the sandboxes on the disk: each is opened when it is first named. */
  addSaved(names: Iterable<string>): void {
    for (const name of names) this.#saved.set(name, { name, problem: null })
  }

  /** Notes why a sandbox on the disk cannot be opened. The next request for it tries again. */
  cannotOpen(name: string, problem: string): void {
    if (this.#saved.has(name)) this.#saved.set(name, { name, problem })
  }

  /** Opens a sandbox if the disk holds it and it is not open. Refuses with the reason when it cannot be opened. */
  async openSaved(name: string): Promise<void> {
    if (this.#saved.has(name)) await this.open(name)
  }

  /**
   * The sandbox with a name; made from the starting state when it is not there. Refuses one that is being removed: the request
   * came before the removal was over, and must not undo it.
   */
  async open(name: string): Promise<Sandbox> {
    for (;;) {
      const managed = this.#running.get(name)
      if (managed !== undefined) return managed.sandbox
      if (this.#leaving.has(name)) throw this.removed(name)
      const busy = this.#busy.get(name)
      if (busy === undefined) {
        if (this.#saved.has(name)) return this.#reopen(name)
        return this.#isStrict ? this.#unknown(name) : this.#make(name, {}, false)
      }
      await busy.catch(() => {})
    }
  }

  /** Makes a sandbox, or refuses with a conflict when it is there. */
  async create(name: string, origin: Origin, persist: boolean): Promise<Sandbox> {
    refuseBadName(name, '/name')
    if (name === DEFAULT_SANDBOX) refuseDefault()
    if (this.has(name) || this.#busy.has(name)) {
      refuse('conflict', {
        detail: `There is a sandbox "${name}" already.`,
        mitigation: `DELETE /__emulator/sandboxes/${name} removes it; POST /@${name}/__emulator/reset starts it again.`,
      })
    }
    if (persist && this.#maker.persists !== true) {
      refuse('conflict', {
        detail: 'The emulator keeps everything in memory (--ephemeral), so no sandbox can persist.',
        mitigation: 'Leave out persist, or start the emulator without --ephemeral.',
      })
    }
    return this.#make(name, origin, persist)
  }

  /** Starts a sandbox again from what it was made from; what is given here takes precedence, this once. */
  async reset(sandbox: Sandbox, anew: Origin = {}): Promise<void> {
    sandbox.refuseDuringAdvance()
    replaceState(sandbox, await this.startOf(sandbox, anew))
  }

  /** What {@link reset} makes of a sandbox: what it starts from, made anew. */
  async startOf(sandbox: Sandbox, anew: Origin = {}): Promise<SandboxState> {
    const origin = await originOf(this.#managed(sandbox))
    return this.#maker.start(originWith(origin, anew), true)
  }

  /** Removes a sandbox and everything of it, its snapshots too. The default one cannot go. */
  async delete(name: string): Promise<void> {
    if (name === DEFAULT_SANDBOX) refuseDefault()
    await this.#busy.get(name)?.catch(() => {})
    // One that is not open is opened, so that whatever else uses its files is found.
    const { sandbox } = await this.find(name)
    const managed = this.#managed(sandbox)
    this.#running.delete(name)
    managed.sandbox.close(this.removed(name), true)
    this.#leaving.add(name)
    const removal = managed.snapshots.close().then(() => managed.remove())
    await this.#during(
      name,
      removal.finally(() => this.#leaving.delete(name)),
    )
  }

  /** Lets go of all of them; none is made any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#busy.values())
    for (const { sandbox } of this.#running.values()) sandbox.close(closed(), false)
    const rest = this.#running.values()
    const closeRest = async (): Promise<void> => {
      for (const managed of rest) {
        await managed.snapshots.close()
        await managed.close()
      }
    }
    await Promise.all(Array.from({ length: CLOSED_AT_ONCE }, closeRest))
  }

  #reopen(name: string): Promise<Sandbox> {
    if (this.#isClosed) throw closed()
    return this.#during(name, this.#openSaved(name))
  }

  async #openSaved(name: string): Promise<Sandbox> {
    try {
      const opened = await this.#maker.open(name)
      this.#saved.delete(name)
      this.add(opened, true)
      return opened.sandbox
    } catch (error) {
      this.cannotOpen(name, error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  #make(name: string, origin: Origin, persist: boolean): Promise<Sandbox> {
    // After close() nothing would release the files of a new sandbox: they would stay locked.
    if (this.#isClosed) throw closed()
    if (this.#running.size + this.#saved.size + this.#busy.size >= MAX_SANDBOXES) {
      refuse('conflict', {
        detail: `There are ${MAX_SANDBOXES} sandboxes, which is as many as there can be.`,
        mitigation: 'DELETE /__emulator/sandboxes/{name} removes those that are no longer needed.',
      })
    }
    return this.#during(name, this.#build(name, origin, persist))
  }

  async #build(name: string, origin: Origin, persist: boolean): Promise<Sandbox> {
    const start = await this.#maker.start(origin)
    const opened = await this.#maker.make(name, start, persist, Object.keys(origin).length > 0)
    this.add(opened, persist, origin)
    return opened.sandbox
  }

  // A caller may hold a removed sandbox while another one has its name.
  #managed(sandbox: Sandbox): ManagedSandbox {
    const managed = this.#running.get(sandbox.name)
    if (managed?.sandbox === sandbox) return managed
    throw this.removed(sandbox.name)
  }

  /** What a request gets whose sandbox was removed after it came. */
  removed(name: string): Refusal {
    return new Refusal('not_found', {
      detail: `The sandbox "${name}" has been removed.`,
      mitigation: this.#isStrict
        ? CREATE_FIRST
        : 'Send the request again: a sandbox that is named is then created.',
    })
  }

  #unknown(name: string): never {
    return refuse('not_found', {
      detail: `There is no sandbox "${name}".${didYouMean(name, [...this.#running.keys(), ...this.#saved.keys()])}`,
      mitigation: this.#isStrict ? CREATE_FIRST : 'GET /__emulator/sandboxes lists them.',
    })
  }

  async #during<T>(name: string, work: Promise<T>): Promise<T> {
    this.#busy.set(name, work)
    try {
      return await work
    } finally {
      this.#busy.delete(name)
    }
  }
}

const CREATE_FIRST = 'GET /__emulator/sandboxes lists them; POST /__emulator/sandboxes creates one.'

// Who asks to make it or to remove it wants the same: a sandbox as it was at the start.
function refuseDefault(): never {
  refuse('conflict', {
    detail: 'The default sandbox is always there: it can be neither made nor removed.',
    mitigation:
      'POST /__emulator/reset or "workspace-emulator reset" starts it again, from other fixtures too.',
  })
}

function closed(): Refusal {
  return new Refusal('conflict', {
    detail: 'The emulator is closing.',
    mitigation: 'Start it again; what was acknowledged is there.',
  })
}

interface ManagedSandbox extends RunningSandbox, SandboxEntry {
  readonly origin: Origin
  readonly snapshots: Snapshots
}

// One that the disk has brought back knows what it was made from by the sandbox alone.
async function originOf({ origin, snapshots }: ManagedSandbox): Promise<Origin> {
  if (Object.keys(origin).length > 0) return origin
  const state = await snapshots.start()
  return state === undefined ? {} : { state }
}
