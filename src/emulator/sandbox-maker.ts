import { areUnchanged, type FixturesRead, readAgain, readFixtures } from '../adapters/fixtures.ts'
import type { ScenarioRunner } from '../adapters/scenarios/runner.ts'
import { attempt, guardedFiles, nodeFiles, onDisk } from '../adapters/storage/files.ts'
import type { Lock } from '../adapters/storage/lock.ts'
import type { OnNotice } from '../adapters/storage/notice.ts'
import { Persistence } from '../adapters/storage/persistence.ts'
import { SnapshotFiles } from '../adapters/storage/snapshots.ts'
import { readWakeTime } from '../adapters/storage/state-file.ts'
import type { WebhookSenders } from '../adapters/webhooks/senders.ts'
import { isStorageFailure, Refusal, refuse } from '../core/errors.ts'
import { arm, disarm } from '../core/faults/arm.ts'
import { faultHooks } from '../core/faults/hooks.ts'
import { FixturesError } from '../core/fixtures-error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Scope } from '../core/operation.ts'
import { keysIn, knownKeys, type PlainKey } from '../core/request/plain-keys.ts'
import { change, setSettings } from '../core/sandboxes/change.ts'
import { DEFAULT_SANDBOX } from '../core/sandboxes/name.ts'
import type { Origin } from '../core/sandboxes/origin.ts'
import { Sandbox, sandboxDefaults } from '../core/sandboxes/sandbox.ts'
import type { RunningSandbox, SandboxMaker } from '../core/sandboxes/sandboxes.ts'
import type { Service } from '../core/service.ts'
import { type BuiltState, buildStartingState, type Fixtures } from '../core/state/starting-state.ts'
import { CLOCK, ORIGIN, type OriginRow, SANDBOX_TABLE, type SandboxState } from '../core/state/state.ts'
import { Store } from '../core/state/store.ts'
import { type ClockRow, clockRow, type HostTime, hostTime } from '../core/time/clock.ts'
import { formatInstant } from '../core/time/instant.ts'
import { later } from '../core/time/realtime.ts'
import { runDueEvents, setClock } from '../core/time/run-events.ts'
import { LATENCY, latencyOf, latencyRule } from '../server/http/faults/latency.ts'
import { noticesTo, snapshotFolderOf, stateFileOf } from './data-folder.ts'
import { keepAwake } from './keep-awake.ts'
import { type InternalOptions, SILENT, startOptions } from './options.ts'

/** Milliseconds for which a starting state is reused: its relative timestamps may be older than the clock by that much. */
const MAX_AGE = 60_000

/** The starting state of sandboxes that give no fixtures, seed, clock or settings, and the files that it was built from. */
interface DefaultStart extends BuiltState {
  readonly read: FixturesRead
  readonly madeAt: number
}

/** The adapters that act for each sandbox. */
interface SandboxAdapters {
  readonly senders: WebhookSenders
  readonly scenarios: ScenarioRunner
  /** With the endpoints of the user. */
  readonly service: Service
}

/** Creates the sandboxes of one emulator: their starting states and files, and the adapters that act for them. */
export class WorkspaceSandboxes implements SandboxMaker {
  readonly #options: InternalOptions
  readonly #adapters: SandboxAdapters
  readonly #lock: Lock | undefined
  readonly #service: Service
  /** `http://host:port` of the server, once it listens. */
  origin: string | undefined
  /** Sandboxes that start from it share its records. */
  #defaultStart: DefaultStart | undefined

  /** @param lock the lock of the data folder; absent when nothing is written */
  constructor(options: InternalOptions, adapters: SandboxAdapters, lock?: Lock) {
    this.#options = options
    this.#adapters = adapters
    this.#lock = lock
    this.#service = adapters.service
  }

  async start(origin: Origin, reread = false): Promise<SandboxState> {
    const { fixtures, seed, clock, settings } = origin
    const passing = this.#passing(origin)
    if (origin.state !== undefined) {
      // Time goes on from the clock of that state.
      const row = origin.state.store.get(SANDBOX_TABLE, CLOCK) as ClockRow
      const { rate = row.rate, skip_on_poll = row.skip_on_poll } = origin
      const now = Date.parse(clock ?? row.now)
      return this.#copy(origin.state, { ...row, rate, skip_on_poll, now }, seed)
    }
    if ([fixtures, seed, clock, settings].some((each) => each !== undefined))
      return (await this.#build(origin)).state
    const madeAt = this.#host()
    if (this.#defaultStart === undefined || !this.#isFresh(this.#defaultStart, madeAt, reread)) {
      const read = await readAgain(this.#fixturesOf({}), this.#defaultStart?.read)
      this.#defaultStart = { ...(await this.#build({}, read.fixtures)), read, madeAt }
    }
    const now = this.#startInstant(this.#options.clock)
    return this.#copy(this.#defaultStart.state, { now, ...passing })
  }

  /**
   * The API keys that the fixtures contain in plain text and that the sandbox has. A sandbox stores only digests, so the plain
   * text comes from its fixtures. Other keys of the sandbox, for example from an older state file, are left out.
   */
  async plainKeys({ store }: Sandbox): Promise<PlainKey[]> {
    const { collections } = this.#defaultStart?.read.fixtures ?? (await readFixtures(this.#fixturesOf({})))
    const tokens = [...store.rows('api_keys').values()].map((row) => (row as { token?: unknown }).token)
    return knownKeys(keysIn(collections.api_keys), tokens)
  }

  #fixturesOf({ fixtures }: Origin): NonNullable<Origin['fixtures']> {
    return fixtures ?? this.#options.fixtures ?? startOptions.fixtures.default
  }

  /** How time passes in a new sandbox. */
  #passing({ rate, skip_on_poll }: Origin): Pick<ClockRow, 'rate' | 'skip_on_poll'> {
    const { rate: usual = startOptions.rate.default, skipOnPoll = startOptions.skipOnPoll.default } =
      this.#options
    return { rate: rate ?? usual, skip_on_poll: skip_on_poll ?? skipOnPoll }
  }

  // A reset reads the files again, and its timestamps are relative to the present instant.
  #isFresh({ madeAt, isTimeless, read }: DefaultStart, now: number, reread: boolean): boolean {
    const hasFixedClock = this.#options.clock !== undefined
    if (reread) return (hasFixedClock || isTimeless) && areUnchanged(read.files)
    return hasFixedClock || now - madeAt < MAX_AGE
  }

  async make(name: string, start: SandboxState, persist: boolean, own: boolean): Promise<RunningSandbox> {
    if (!persist || !this.persists) return this.#opened(new Sandbox(this.#sandboxOptions(name), start))
    return onDisk(this.#fileOf(name), () => this.#makeOnDisk(name, start, own))
  }

  get persists(): boolean {
    return this.#options.ephemeral !== true
  }

  async #makeOnDisk(name: string, start: SandboxState, own: boolean): Promise<RunningSandbox> {
    const disk = this.#openDisk(name)
    let isOurs = false
    try {
      // A file that is there was created after the start of the emulator.
      const found = disk.persistence.load(this.#service, this.#strict)
      if (found !== undefined)
        refuse('conflict', {
          detail: `${this.#fileOf(name)} has a sandbox that was created after the start of the emulator.`,
          mitigation: 'Start the emulator again to open it, or move the file away.',
        })
      isOurs = true
      await disk.snapshots.begin(own ? start : undefined)
      const sandbox = new Sandbox(this.#sandboxOptions(name), start)
      disk.persistence.attach(sandbox)
      return this.#opened(sandbox, disk)
    } catch (error) {
      // A failure of the removal must not hide this one.
      if (isOurs) attempt(() => remove(disk))
      else disk.persistence.close()
      throw error
    }
  }

  /** The default sandbox, from the disk or new. */
  async openDefault(): Promise<RunningSandbox> {
    if (!this.persists) return this.make(DEFAULT_SANDBOX, await this.start({}), false, false)
    return this.#open(DEFAULT_SANDBOX)
  }

  async open(name: string): Promise<RunningSandbox> {
    try {
      return await this.#open(name)
    } catch (error) {
      if (error instanceof Refusal || error instanceof FixturesError || !(error instanceof Error)) throw error
      return refuseSaved(name, error.message)
    }
  }

  /** When the next event of a sandbox on the disk is due. Refuses when it cannot be opened. */
  wakeTime(name: string): number | 'never' | 'unknown' {
    try {
      return readWakeTime(nodeFiles, this.#fileOf(name))
    } catch (error) {
      return refuseSaved(name, (error as Error).message)
    }
  }

  async #open(name: string): Promise<RunningSandbox> {
    this.#lock?.check()
    const disk = this.#openDisk(name)
    try {
      const loaded = disk.persistence.load(this.#service, this.#strict)
      const state = loaded?.state ?? (await this.start({}))
      const sandbox = new Sandbox(this.#sandboxOptions(name), state, loaded?.floor)
      disk.persistence.attach(sandbox)
      disk.snapshots.sweep()
      if (loaded !== undefined && name === DEFAULT_SANDBOX) this.#applyOptions(sandbox)
      return this.#opened(sandbox, disk)
    } catch (error) {
      disk.persistence.close()
      throw error
    }
  }

  /** Arms the rule of the option `latency`. */
  #delay(scope: Scope): void {
    const latency = latencyOf(this.#options.latency ?? '')
    if (latency === undefined) return
    arm(scope, this.#service, latencyRule(latency), 'control', formatInstant(this.#host()))
  }

  // Options of new sandboxes do not change a saved one; options of every sandbox do.
  #applyOptions(sandbox: Sandbox): void {
    const { rate, skipOnPoll, settings, latency, tomorrow } = this.#options
    if (settings !== undefined) setSettings(sandbox, settings)
    if (tomorrow) setSettings(sandbox, { tomorrow, ...(sandbox.settings.overrides as JsonObject) })
    if (latency !== undefined) {
      change(sandbox, (scope) => {
        disarm(scope, LATENCY)
        this.#delay(scope)
      })
    }
    const { rate: present, skipsOnPoll: skips } = sandbox.clock
    if ((rate ?? present) === present && (skipOnPoll ?? skips) === skips) return
    runDueEvents(sandbox)
    setClock(sandbox, { rate, skip_on_poll: skipOnPoll })
  }

  #opened(sandbox: Sandbox, disk?: OnDisk): RunningSandbox {
    const { senders, scenarios } = this.#adapters
    const stops = [keepAwake(sandbox), senders.attach(sandbox), scenarios.attach(sandbox)]
    const stop = (): void => {
      for (const each of stops) each()
    }
    return {
      sandbox,
      ...(disk && { snapshotStore: disk.snapshots }),
      close: async () => {
        stop()
        disk?.persistence.close()
      },
      remove: async () => {
        stop()
        if (disk !== undefined) await onDisk(disk.persistence.file, () => remove(disk))
      },
    }
  }

  #openDisk(name: string): OnDisk {
    const { discardJournal } = this.#options
    const importCommand = (path: string): string => {
      const sandbox = name === DEFAULT_SANDBOX ? '' : ` --sandbox ${name}`
      const url = this.origin === undefined ? '' : ` --url ${this.origin}`
      return `workspace-emulator state import "${path}"${sandbox}${url}`
    }
    const lock = this.#lock
    const files = lock === undefined ? nodeFiles : guardedFiles(nodeFiles, (byPath) => lock.check(byPath))
    const report = noticesTo(this.#options)
    // After the lock is lost, the files belong to another process. The loss itself has been logged.
    const onNotice: OnNotice = (notice) => {
      if (lock?.lost === undefined) report(notice)
    }
    const context = { service: this.#service, strict: this.#strict }
    const [file, directory] = [this.#fileOf(name), snapshotFolderOf(this.#options, name)]
    return {
      persistence: new Persistence({ file, discardJournal, importCommand, later, onNotice, files }),
      snapshots: new SnapshotFiles({ directory, sandbox: name, context, onNotice, files }),
    }
  }

  #fileOf(name: string): string {
    return stateFileOf(this.#options, name)
  }

  async #build(origin: Origin, read?: Fixtures): Promise<BuiltState> {
    const fixtures = this.#fixturesOf(origin)
    const {
      seed = this.#options.seed ?? startOptions.seed.default,
      clock = this.#options.clock,
      settings = this.#options.settings ?? {},
    } = origin
    const now = this.#startInstant(clock)
    const common = { strict: this.#strict, host: this.#host }
    const own = this.#options.tomorrow ? { tomorrow: true, ...settings } : settings
    const start = { ...common, ...this.#passing(origin), seed, now, settings: own }
    const built = await buildStartingState(read ?? (await readFixtures(fixtures)), start, this.#service)
    if ('state' in built) {
      if (this.#options.latency !== undefined) {
        const [at, { store }] = [formatInstant(now), built.state]
        store.transaction(at, (tx) => this.#delay({ tx, at } as Scope))
        store.revision = 0
      }
      return built
    }
    throw new FixturesError(typeof fixtures === 'string' ? fixtures : '(given)', built.issues)
  }

  #startInstant(clock: string | undefined): number {
    return clock === undefined ? this.#host() : Date.parse(clock)
  }

  // Shares the records of a state, with another clock and seed.
  #copy(
    { store, limits, log }: SandboxState,
    clock: Parameters<typeof clockRow>[0],
    seed?: number,
  ): SandboxState {
    const copy = Store.from(store)
    copy.transaction(formatInstant(clock.now), (tx) => {
      tx.put(SANDBOX_TABLE, clockRow(clock, this.#host))
      if (seed !== undefined) tx.put(SANDBOX_TABLE, { id: ORIGIN, seed } as OriginRow)
    })
    copy.revision = store.revision
    return { store: copy, limits, ...(log && { log }) }
  }

  get #host(): HostTime {
    return this.#options.hostTime ?? hostTime
  }

  get #strict(): boolean {
    return this.#options.strict ?? false
  }

  #sandboxOptions(name: string) {
    const { auth, limits = true, revealFaults = false, logger = SILENT } = this.#options
    return {
      ...sandboxDefaults,
      name,
      service: this.#service,
      anyKey: auth === 'any',
      enforceLimits: limits,
      strict: this.#strict,
      revealFaults,
      hooks: faultHooks,
      host: this.#host,
      origin: () => this.origin,
      onDefect: (error: unknown) => {
        // After the lock is lost, every event that writes fails. That has been reported.
        if (!isStorageFailure(error) || this.#lock?.lost === undefined)
          logger.error('The emulator has a defect.', { error })
      },
      onWarning: (message: string) => logger.warn(message),
    }
  }
}

function refuseSaved(name: string, problem: string): never {
  return refuse('storage_unavailable', {
    detail: `The sandbox "${name}" cannot be opened: ${problem.replace(/\.$/, '')}.`,
    mitigation:
      'Repair the file or move it away; the next request for the sandbox tries again. The other sandboxes still work.',
  })
}

interface OnDisk {
  readonly persistence: Persistence
  readonly snapshots: SnapshotFiles
}

// The state file is removed first: without it the sandbox no longer exists, even if snapshots are left.
function remove({ persistence, snapshots }: OnDisk): void {
  persistence.remove()
  snapshots.clear()
}
