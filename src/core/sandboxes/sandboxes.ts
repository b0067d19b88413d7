import { Refusal, refuse } from '../errors.ts'
import { refuseUnknown } from '../refuse-unknown.ts'
import type { SandboxState } from '../state/state.ts'
import { replaceState } from './change.ts'
import { DEFAULT_SANDBOX } from './name.ts'
import { refuseBadName } from './name-field.ts'
import { type Origin, originWith } from './origin.ts'
import type { Sandbox } from './sandbox.ts'
import { type SnapshotStorage, Snapshots } from './snapshots.ts'

/** Creates sandboxes. The composition root implements it. */
export interface SandboxMaker {
  /**
   * Builds the starting state for an origin. With `reread`, changed fixtures files are read again. Throws `FixturesError` or a
   * refusal, and then nothing has changed.
   */
  start(origin: Origin, reread?: boolean): Promise<SandboxState>
  /**
   * Creates a sandbox from a state, with its timers, and on the disk if it persists. With `own`, the starting state is stored
   * there too. When it throws, nothing is left.
   */
  make(name: string, start: SandboxState, persist: boolean, own: boolean): Promise<RunningSandbox>
  /** Opens a sandbox that is on the disk. Refuses with the reason when it cannot be opened. */
  open(name: string): Promise<RunningSandbox>
  /** Whether a sandbox can outlive the process; absent: none can. */
  readonly persists?: boolean
}

/** An open sandbox, with its files and timers. */
export interface RunningSandbox {
  readonly sandbox: Sandbox
  /** Where its snapshots are stored; absent: in memory. */
  readonly snapshotStore?: SnapshotStorage
  /** Stops its timers and closes its files, which stay on the disk. */
  close(): Promise<void>
  /** Stops its timers and removes its files. */
  remove(): Promise<void>
}

/** A sandbox as lists show it. */
export interface SandboxEntry {
  readonly sandbox: Sandbox
  readonly persist: boolean
}

/** A sandbox on the disk that has not been opened since the process was started. */
export interface SavedSandbox {
  readonly name: string
  /** Why it cannot be opened; null when no problem is known. */
  readonly problem: string | null
}

/** More sandboxes than this in one process mean that a client creates them in an endless loop. */
export const MAX_SANDBOXES = 10_000

/** Default of the maximum number of sandboxes on the disk that are open at once: each has timers, and its file is watched. */
export const MAX_OPEN = 200

/** The number of sandboxes that are closed at a time: most of the time is spent waiting for the disk. */
const CLOSED_AT_ONCE = 8

/**
 * All sandboxes of one process. `default` always exists. Each other one is created when it is first named, or opened if it is
 * on the disk.
 */
export class Sandboxes {
  readonly #maker: SandboxMaker
  readonly #running = new Map<string, ManagedSandbox>()
  /** Sandboxes on the disk that have not been opened. */
  readonly #saved = new Map<string, SavedSandbox>()
  /** Sandboxes that are being created, opened or removed: later calls wait for the end of that. */
  readonly #busy = new Map<string, Promise<unknown>>()
  /** The names of sandboxes that are being removed. */
  readonly #leaving = new Set<string>()
  readonly #listeners = new Set<(sandbox: Sandbox) => void>()
  readonly #isStrict: boolean
  readonly #maxOpen: number
  #isClosed = false

  /** @param options strict: sandboxes are created only by an explicit request, not by their first use */
  constructor(maker: SandboxMaker, options: { strict?: boolean; maxOpen?: number | undefined } = {}) {
    this.#maker = maker
    this.#isStrict = options.strict ?? false
    this.#maxOpen = options.maxOpen ?? MAX_OPEN
  }

  get default(): Sandbox {
    return (this.#running.get(DEFAULT_SANDBOX) as ManagedSandbox).sandbox
  }

  /** A sandbox that is open. Undefined before it is first named, and while it is being created or opened. */
  get(name: string): Sandbox | undefined {
    return this.#running.get(name)?.sandbox
  }

  /** Whether there is a sandbox of that name, open or not. */
  has(name: string): boolean {
    return this.#running.has(name) || this.#saved.has(name)
  }

  /** The open sandboxes, in the order in which they were created or opened. */
  list(): readonly SandboxEntry[] {
    return [...this.#running.values()]
  }

  /** The sandboxes on the disk that are not open, in the order of their names. */
  saved(): readonly SavedSandbox[] {
    return [...this.#saved.values()]
  }

  /** Calls the listener for every sandbox that is created or opened, before its first request. @returns removes the listener */
  onMade(listener: (sandbox: Sandbox) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** An open sandbox. Refuses an unknown name with `not_found` and suggests the most similar one. */
  show(name: string): SandboxEntry {
    return this.#running.get(name) ?? this.#unknown(name)
  }

  /** As {@link show}, but opens a sandbox that is on the disk, and waits for one that is being created. */
  async find(name: string): Promise<SandboxEntry> {
    await this.#busy.get(name)?.catch(() => {})
    await this.openSaved(name)
    return this.show(name)
  }

  /** The snapshots of a sandbox. */
  snapshots(sandbox: Sandbox): Snapshots {
    return this.#managed(sandbox).snapshots
  }

  /** Adds a sandbox that was created elsewhere, such as the default one. */
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

  /** Opens a sandbox if it is on the disk and not open. Refuses with the reason when it cannot be opened. */
  async openSaved(name: string): Promise<void> {
    if (this.#saved.has(name)) await this.open(name)
  }

  /**
   * The sandbox with a name, created from the starting state when it does not exist. Refuses a name that is being removed: the
   * request was sent before the end of the removal, and must not undo it.
   */
  async open(name: string): Promise<Sandbox> {
    for (;;) {
      const managed = this.#running.get(name)
      if (managed !== undefined) return managed.sandbox
      if (this.#leaving.has(name)) throw this.removed(name)
      const busy = this.#busy.get(name)
      if (busy === undefined) {
        if (this.#saved.has(name)) return this.#during(name, this.#openSaved(name))
        return this.#isStrict ? this.#unknown(name) : this.#make(name, {}, false)
      }
      await busy.catch(() => {})
    }
  }

  /** Creates a sandbox. Refuses with `conflict` when it exists already. */
  async create(name: string, origin: Origin, persist: boolean): Promise<Sandbox> {
    refuseBadName(name, '/name')
    if (name === DEFAULT_SANDBOX) refuseDefault()
    if (this.has(name) || this.#busy.has(name)) {
      refuse('conflict', {
        detail: `The sandbox "${name}" already exists.`,
        mitigation: `"workspace-emulator sandbox delete ${name}" removes it; "workspace-emulator reset --sandbox ${name}" resets it.`,
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

  /** Resets a sandbox to the state that it was created from. `overrides` takes precedence, for this reset only. */
  async reset(sandbox: Sandbox, overrides: Origin = {}): Promise<void> {
    sandbox.advances.refuseOther()
    replaceState(sandbox, await this.startOf(sandbox, overrides))
  }

  /** The state after a {@link reset}: the starting state of the sandbox, built again. */
  async startOf(sandbox: Sandbox, overrides: Origin = {}): Promise<SandboxState> {
    const { origin, snapshots } = this.#managed(sandbox)
    // A sandbox that was opened from the disk has no origin in memory, only a starting state that may be stored with it.
    const state = Object.keys(origin).length > 0 ? undefined : await snapshots.start()
    return this.#maker.start(originWith(state === undefined ? origin : { state }, overrides), true)
  }

  /** Removes a sandbox with its files and snapshots. Refuses with `conflict` to remove the default one. */
  async delete(name: string): Promise<void> {
    if (name === DEFAULT_SANDBOX) refuseDefault()
    await this.#busy.get(name)?.catch(() => {})
    // A sandbox that is not open is opened first, to find out whether another process uses its files.
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

  /** Closes all sandboxes. Afterwards none can be created. */
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

  // Sandboxes that are being opened are not counted, so a few more may be open.
  #refuseBeyondOpen(): void {
    const open = [...this.#running.values()].filter(({ persist }) => persist).length
    if (open < this.#maxOpen) return
    refuse('conflict', {
      detail: `${open} sandboxes on the disk are open, the maximum.`,
      mitigation:
        'Start the emulator again, which opens sandboxes when they are first used, or with a larger --max-open-sandboxes. A sandbox in memory (without persist) can be created at any time.',
    })
  }

  async #openSaved(name: string): Promise<Sandbox> {
    if (this.#isClosed) throw closed()
    this.#refuseBeyondOpen()
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
    if (persist) this.#refuseBeyondOpen()
    if (this.#running.size + this.#saved.size + this.#busy.size >= MAX_SANDBOXES) {
      refuse('conflict', {
        detail: `There are ${MAX_SANDBOXES} sandboxes, the maximum.`,
        mitigation: 'Remove sandboxes that are no longer needed: "workspace-emulator sandbox delete NAME".',
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

  // A caller may still have a removed sandbox when another one has its name.
  #managed(sandbox: Sandbox): ManagedSandbox {
    const managed = this.#running.get(sandbox.name)
    if (managed?.sandbox === sandbox) return managed
    throw this.removed(sandbox.name)
  }

  /** The refusal for a request whose sandbox was removed after the request was received. */
  removed(name: string): Refusal {
    return new Refusal('not_found', {
      detail: `The sandbox "${name}" has been removed.`,
      mitigation: this.#isStrict ? CREATE_FIRST : 'Send the request again: it then creates the sandbox.',
    })
  }

  #unknown(name: string): never {
    const fix = this.#isStrict ? CREATE_FIRST : '"workspace-emulator sandbox list" lists them.'
    return refuseUnknown('sandbox', name, [...this.#running.keys(), ...this.#saved.keys()], fix)
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

const CREATE_FIRST =
  '"workspace-emulator sandbox list" lists them; "workspace-emulator sandbox create NAME" creates one.'

// Creating and removing it would have the same aim: a sandbox in its starting state. The message names the reset instead.
function refuseDefault(): never {
  refuse('conflict', {
    detail: 'The default sandbox always exists: it cannot be created or removed.',
    mitigation:
      '"workspace-emulator reset" resets it; "workspace-emulator call POST /reset JSON" with "fixtures" starts it with others.',
  })
}

function closed(): Refusal {
  return new Refusal('conflict', {
    detail: 'The emulator is closing.',
    mitigation: 'Start it again; all acknowledged changes are saved.',
  })
}

interface ManagedSandbox extends RunningSandbox, SandboxEntry {
  readonly origin: Origin
  readonly snapshots: Snapshots
}
