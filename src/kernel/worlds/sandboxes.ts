import { didYouMean } from '../assumptions.ts'
import { Refusal, refuse } from '../errors.ts'
import type { WorldState } from '../state/state.ts'
import { refuseBadName } from './names.ts'
import { chosenAnew, type Origin } from './origin.ts'
import type { Sandbox } from './sandbox.ts'
import { type Shelf, Snapshots } from './snapshots.ts'

/** Where sandboxes are made; the composition root is it. */
export interface SandboxMaker {
  /** Makes the world that an origin describes; `again` reads anew what may have changed since it was last made. Throws `FixturesError` or a refusal, and then nothing has happened. */
  start(origin: Origin, again?: boolean): Promise<WorldState>
  /**
   * Makes a sandbox of it and hangs on what keeps it alive, and on the disk if it persists; there the start is kept too when
   * it is the sandbox's own. When it throws, nothing is left.
   */
  make(name: string, start: WorldState, persist: boolean, own: boolean): Promise<Housed>
  /** Whether a sandbox can outlive the process; absent: none can. */
  readonly persists?: boolean
}

/** A sandbox and what keeps it alive. */
export interface Housed {
  readonly sandbox: Sandbox
  /** Where its snapshots stand; absent: in memory. */
  readonly shelf?: Shelf
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

/** The sandbox of everybody who chooses none. */
export const DEFAULT_SANDBOX = 'default'

/** More worlds than this in one process means that somebody makes them without end. */
export const MOST_SANDBOXES = 10_000

/** All worlds of one process. `default` is always there; others are made when they are first named. */
export class Sandboxes {
  readonly #maker: SandboxMaker
  readonly #homes = new Map<string, Home>()
  /** What is being made or removed: whoever comes meanwhile waits for it. */
  readonly #busy = new Map<string, Promise<unknown>>()
  readonly #listeners = new Set<(sandbox: Sandbox) => void>()
  #isClosed = false

  constructor(maker: SandboxMaker) {
    this.#maker = maker
  }

  get default(): Sandbox {
    return (this.#homes.get(DEFAULT_SANDBOX) as Home).sandbox
  }

  /** Undefined while nobody has named it, and while it is being made. */
  get(name: string): Sandbox | undefined {
    return this.#homes.get(name)?.sandbox
  }

  /** In the order in which they were made. */
  list(): readonly SandboxEntry[] {
    return [...this.#homes.values()]
  }

  /** Tells of every sandbox that comes from now on, before any request reaches it. @returns stops telling */
  onMade(listener: (sandbox: Sandbox) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** As lists show it, or a refusal that names the nearest. */
  show(name: string): SandboxEntry {
    return this.#homes.get(name) ?? this.#unknown(name)
  }

  /** The snapshots of a sandbox. */
  snapshots(sandbox: Sandbox): Snapshots {
    return this.#homeOf(sandbox).snapshots
  }

  /** Takes in a sandbox that was made elsewhere: the default one, and those found on the disk. */
  add(housed: Housed, persist: boolean, origin: Origin = {}): void {
    const snapshots = new Snapshots(housed.sandbox, housed.shelf)
    this.#homes.set(housed.sandbox.name, { ...housed, persist, origin, snapshots })
    for (const listener of this.#listeners) listener(housed.sandbox)
  }

  /** The sandbox with a name; made from the starting world when it is not there. */
  async open(name: string): Promise<Sandbox> {
    for (;;) {
      const home = this.#homes.get(name)
      if (home !== undefined) return home.sandbox
      const busy = this.#busy.get(name)
      if (busy === undefined) return this.#make(name, {}, false)
      await busy.catch(() => {})
    }
  }

  /** Makes a sandbox, or refuses with a conflict when it is there. */
  async create(name: string, origin: Origin, persist: boolean): Promise<Sandbox> {
    refuseBadName(name, '/name')
    if (this.#homes.has(name) || this.#busy.has(name)) {
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

  /** Starts a world again from what it was made from; what is given here takes precedence, this once. */
  async reset(sandbox: Sandbox, anew: Origin = {}): Promise<void> {
    sandbox.become(await this.startOf(sandbox, anew))
  }

  /** What {@link reset} makes of a world: what it starts from, made anew. */
  async startOf(sandbox: Sandbox, anew: Origin = {}): Promise<WorldState> {
    const origin = await originOf(this.#homeOf(sandbox))
    return this.#maker.start(chosenAnew(origin, anew), true)
  }

  /** Removes a sandbox and everything of it, its snapshots too. The default one cannot go. */
  async delete(name: string): Promise<void> {
    if (name === DEFAULT_SANDBOX) {
      refuse('conflict', {
        detail: 'The default sandbox is always there.',
        mitigation: 'POST /__emulator/reset starts it again.',
      })
    }
    await this.#busy.get(name)?.catch(() => {})
    const home = this.#homes.get(name) ?? this.#unknown(name)
    this.#homes.delete(name)
    home.sandbox.retire(removed(name), true)
    await this.#during(
      name,
      home.snapshots.close().then(() => home.remove()),
    )
  }

  /** Lets go of all of them; none is made any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#busy.values())
    for (const home of this.#homes.values()) {
      home.sandbox.retire(closed(), false)
      await home.snapshots.close()
      await home.close()
    }
  }

  #make(name: string, origin: Origin, persist: boolean): Promise<Sandbox> {
    // Whoever asked may have gone, so that nobody waited for this request: its files would stay locked.
    if (this.#isClosed) throw closed()
    if (this.#homes.size + this.#busy.size >= MOST_SANDBOXES) {
      refuse('conflict', {
        detail: `There are ${MOST_SANDBOXES} sandboxes, which is as many as there can be.`,
        mitigation: 'DELETE /__emulator/sandboxes/{name} removes those that nobody needs any more.',
      })
    }
    return this.#during(name, this.#build(name, origin, persist))
  }

  async #build(name: string, origin: Origin, persist: boolean): Promise<Sandbox> {
    const start = await this.#maker.start(origin)
    const housed = await this.#maker.make(name, start, persist, Object.keys(origin).length > 0)
    this.add(housed, persist, origin)
    return housed.sandbox
  }

  // Whoever still holds a sandbox that was removed may find another one under its name.
  #homeOf(sandbox: Sandbox): Home {
    const home = this.#homes.get(sandbox.name)
    if (home?.sandbox === sandbox) return home
    throw removed(sandbox.name)
  }

  #unknown(name: string): never {
    return refuse('not_found', {
      detail: `There is no sandbox "${name}".${didYouMean(name, [...this.#homes.keys()])}`,
      mitigation: 'GET /__emulator/sandboxes lists them.',
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

function removed(name: string): Refusal {
  return new Refusal('not_found', {
    detail: `The sandbox "${name}" has been removed.`,
    mitigation: 'Send the request again: a sandbox that is named is made anew.',
  })
}

function closed(): Refusal {
  return new Refusal('conflict', {
    detail: 'The emulator is closing.',
    mitigation: 'Start it again; what was acknowledged is there.',
  })
}

interface Home extends Housed, SandboxEntry {
  readonly origin: Origin
  readonly snapshots: Snapshots
}

// One that the disk has brought back knows what it was made from by the world alone.
async function originOf({ origin, snapshots }: Home): Promise<Origin> {
  if (Object.keys(origin).length > 0) return origin
  const world = await snapshots.start()
  return world === undefined ? {} : { world }
}
