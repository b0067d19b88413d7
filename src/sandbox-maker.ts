import { join } from 'node:path'
import {
  type OnNotice,
  onDisk,
  openPersistence,
  type Persistence,
  SnapshotFiles,
  worldsIn,
} from './doors/disk/index.ts'
import { FixturesError, readFixtures } from './doors/fixtures.ts'
import { keepAwake, later } from './doors/realtime.ts'
import type { ScenarioRunner } from './doors/scenarios/runner.ts'
import type { Couriers } from './doors/webhooks/couriers.ts'
import { refuse } from './kernel/errors.ts'
import { buildWorld } from './kernel/state/starting-world.ts'
import { CLOCK, ORIGIN, type OriginRow, WORLD, type WorldState } from './kernel/state/state.ts'
import { Store } from './kernel/state/store.ts'
import { type ClockRow, clockRow, hostTime } from './kernel/time/clock.ts'
import { formatInstant } from './kernel/time/instant.ts'
import type { Origin } from './kernel/worlds/origin.ts'
import { Sandbox } from './kernel/worlds/sandbox.ts'
import { DEFAULT_SANDBOX, type Housed, type SandboxMaker } from './kernel/worlds/sandboxes.ts'
import { worldDefaults } from './kernel/worlds/world.ts'
import { type HouseOptions, SILENT } from './options.ts'
import { ledger, workspaceService } from './resources/index.ts'

/** Relative timestamps of a starting world that is used again may be so many milliseconds older than its clock. */
const AGE = 60_000

/** What is done about each sandbox outside of it. */
export interface SandboxDoors {
  readonly couriers: Couriers
  readonly scenarios: ScenarioRunner
}

/** Makes the sandboxes of one emulator: their starting worlds, their files, and what wakes them. */
export class EmulatorSandboxes implements SandboxMaker {
  readonly #options: HouseOptions
  readonly #doors: SandboxDoors
  /** The starting world of whoever asks for nothing else; all of them share its records. */
  #usual: { readonly world: WorldState; readonly madeAt: number } | undefined

  constructor(options: HouseOptions, doors: SandboxDoors) {
    this.#options = options
    this.#doors = doors
  }

  async start(origin: Origin, again = false): Promise<WorldState> {
    if (origin.world !== undefined) return this.#startingFrom(origin.world, origin)
    if (Object.keys(origin).length > 0) return this.#build(origin)
    const now = this.#host()
    const fits = this.#options.clock !== undefined || now - (this.#usual?.madeAt ?? 0) < AGE
    if (again || this.#usual === undefined || !fits) {
      this.#usual = { world: await this.#build({}), madeAt: now }
    }
    return this.#startingNow(this.#usual.world)
  }

  async make(name: string, start: WorldState, persist: boolean, own: boolean): Promise<Housed> {
    if (!persist || !this.persists) return this.#house(new Sandbox(this.#sandboxOptions(name), start))
    return onDisk(this.#fileOf(name), () => this.#makeOnDisk(name, start, own))
  }

  get persists(): boolean {
    return this.#options.ephemeral !== true
  }

  async #makeOnDisk(name: string, start: WorldState, own: boolean): Promise<Housed> {
    const disk = this.#openDisk(name)
    let isOurs = false
    try {
      // A file that cannot be read is moved aside, and said. One that can be was not there when the emulator started.
      const found = await disk.world.load(workspaceService, ledger, this.#strict)
      if (found !== undefined) this.#refuseFound(name)
      isOurs = true
      await disk.snapshots.begin(own ? start : undefined)
      const sandbox = new Sandbox(this.#sandboxOptions(name), start)
      await disk.world.attach(sandbox)
      return this.#house(sandbox, disk)
    } catch (error) {
      if (!isOurs) await disk.world.close()
      // What has failed first is what there is to say.
      else await remove(disk).catch(() => {})
      throw error
    }
  }

  #refuseFound(name: string): never {
    return refuse('conflict', {
      detail: `${this.#fileOf(name)} holds a world that has come there since the emulator was started.`,
      mitigation: 'Start the emulator again to open it, or move the file away.',
    })
  }

  /** The world that the disk holds under a name, or for the default sandbox a new one. */
  async open(name: string): Promise<Housed> {
    if (!this.persists) return this.make(name, await this.start({}), false, false)
    const disk = this.#openDisk(name)
    try {
      const loaded = await disk.world.load(workspaceService, ledger, this.#strict)
      const world = loaded?.world ?? (await this.#anew(disk))
      const sandbox = new Sandbox(this.#sandboxOptions(name), world, loaded?.floor)
      await disk.world.attach(sandbox)
      disk.snapshots.sweep()
      if (loaded !== undefined && name === DEFAULT_SANDBOX) this.#applyOptions(sandbox)
      return this.#house(sandbox, disk)
    } catch (error) {
      await disk.world.close()
      throw error
    }
  }

  // A start that cannot be read either is told of when somebody resets to it.
  async #anew({ snapshots }: OnDisk): Promise<WorldState> {
    const world = await snapshots.start().catch(() => undefined)
    return this.start(world === undefined ? {} : { world })
  }

  // What the options say of a new world does not touch one that is there; what they say of every world does.
  #applyOptions(sandbox: Sandbox): void {
    const { rate, skipOnPoll, settings } = this.#options
    if (settings !== undefined) sandbox.setSettings(settings)
    const { rate: present } = sandbox.clock
    if ((rate ?? present) === present && (skipOnPoll ?? sandbox.skipsOnPoll) === sandbox.skipsOnPoll) return
    sandbox.catchUp()
    sandbox.setClock({ rate, skip_on_poll: skipOnPoll })
  }

  #house(sandbox: Sandbox, disk?: OnDisk): Housed {
    const { couriers, scenarios } = this.#doors
    const stops = [keepAwake(sandbox), couriers.attach(sandbox), scenarios.attach(sandbox)]
    const stop = (): void => {
      for (const each of stops) each()
    }
    return {
      sandbox,
      ...(disk === undefined ? {} : { shelf: disk.snapshots }),
      close: async () => {
        stop()
        await disk?.world.close()
      },
      remove: async () => {
        stop()
        if (disk !== undefined) await onDisk(disk.world.file, () => remove(disk))
      },
    }
  }

  #openDisk(name: string): OnDisk {
    const { data = DEFAULT_DATA, durability = 'process', logger = SILENT } = this.#options
    const onNotice: OnNotice = ({ level, message, ...fields }) => logger[level](message, fields)
    const context = { service: workspaceService, ledger, strict: this.#strict }
    const directory = join(data, SNAPSHOTS, name)
    return {
      world: openPersistence({ file: this.#fileOf(name), durability, later, onNotice }),
      snapshots: new SnapshotFiles({ directory, sandbox: name, context, onNotice }),
    }
  }

  #fileOf(name: string): string {
    const { data = DEFAULT_DATA } = this.#options
    return join(name === DEFAULT_SANDBOX ? data : join(data, OTHERS), `${name}.json`)
  }

  async #build(origin: Origin): Promise<WorldState> {
    const { rate = 1, skipOnPoll = false } = this.#options
    const {
      fixtures = this.#options.fixtures ?? 'demo',
      seed = this.#options.seed ?? 1,
      clock = this.#options.clock,
      settings = this.#options.settings ?? {},
    } = origin
    const host = this.#options.hostTime ?? hostTime
    const now = clock === undefined ? host() : Date.parse(clock)
    const start = { seed, now, rate, skip_on_poll: skipOnPoll, settings, strict: this.#strict, host }
    const built = await buildWorld(await readFixtures(fixtures), start, workspaceService, ledger)
    if ('world' in built) return built.world
    throw new FixturesError(typeof fixtures === 'string' ? fixtures : '(given)', built.issues)
  }

  // Records and all are shared; only the clock is the new world's own.
  #startingNow({ store, limits }: WorldState): WorldState {
    const { clock, rate = 1, skipOnPoll = false } = this.#options
    const host = this.#options.hostTime ?? hostTime
    const now = clock === undefined ? host() : Date.parse(clock)
    const copy = Store.from(store)
    copy.transaction(formatInstant(now), (tx) =>
      tx.put(WORLD, clockRow({ now, rate, skip_on_poll: skipOnPoll }, host)),
    )
    copy.startAt(store.revision)
    return { store: copy, limits }
  }

  // Time goes on from where that world stands.
  #startingFrom({ store, limits, log }: WorldState, { seed, clock }: Origin): WorldState {
    const row = store.get(WORLD, CLOCK) as ClockRow
    const now = Date.parse(clock ?? row.now)
    const copy = Store.from(store)
    copy.transaction(formatInstant(now), (tx) => {
      tx.put(WORLD, clockRow({ ...row, now }, this.#options.hostTime ?? hostTime))
      if (seed !== undefined) tx.put(WORLD, { id: ORIGIN, seed } as OriginRow)
    })
    copy.startAt(store.revision)
    return { store: copy, limits, ...(log && { log }) }
  }

  #host(): number {
    return (this.#options.hostTime ?? hostTime)()
  }

  get #strict(): boolean {
    return this.#options.strict ?? false
  }

  #sandboxOptions(name: string) {
    const { auth, limits = true, revealFaults = false } = this.#options
    const { hostTime: host = hostTime, logger = SILENT } = this.#options
    return {
      ...worldDefaults,
      name,
      service: workspaceService,
      ledger,
      anyKey: auth === 'any',
      enforceLimits: limits,
      strict: this.#strict,
      revealFaults,
      host,
      onSurprise: (error: unknown) => logger.error('The emulator has a defect.', { error }),
    }
  }
}

/** The names of the sandboxes besides the default one that the disk holds. */
export function savedSandboxes({ ephemeral, data = DEFAULT_DATA }: HouseOptions): string[] {
  return ephemeral === true ? [] : worldsIn(join(data, OTHERS))
}

/** The files of one sandbox. */
interface OnDisk {
  readonly world: Persistence
  readonly snapshots: SnapshotFiles
}

// The world first: without it the sandbox is gone, whatever else is left behind.
async function remove({ world, snapshots }: OnDisk): Promise<void> {
  await world.remove()
  snapshots.clear()
}

/** Folder of the state files where none is named. */
const DEFAULT_DATA = '.workspace-emulator'

/** The folder of all but the default one: a name that a user chose must not meet a file that is not ours. */
const OTHERS = 'sandboxes'

/** The folder of snapshots, with a folder for each sandbox that has some. */
const SNAPSHOTS = 'snapshots'
