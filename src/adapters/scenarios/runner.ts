import { readFile } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { Refusal, refuse, refuseInvalid } from '../../core/errors.ts'
import { FixturesError } from '../../core/fixtures-error.ts'
import { refuseUnknown } from '../../core/refuse-unknown.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { activeOn, stopScenario, swapScenario } from '../../core/scenarios/force.ts'
import { type ScenarioRow, scenarioCalls } from '../../core/scenarios/row.ts'
import type {
  ActiveScenario,
  ListedScenario,
  ScenarioDefinition,
  ScenarioEntry,
  ScenarioFailure,
  ScenarioSource,
  ShownScenario,
} from '../../core/scenarios/source.ts'
import { type BeginOptions, startAnew, startScenario } from '../../core/scenarios/start.ts'
import type { Fixtures } from '../../core/state/starting-state.ts'
import { FAILED_EVENTS } from '../../core/state/state.ts'
import type { Cancel } from '../../core/time/realtime.ts'
import type { FailedEvent } from '../../core/time/scheduler.ts'
import { readFixtures } from '../fixtures.ts'
import { FunctionCaller } from './caller.ts'
import { type OnScenarioNotice, problemLine } from './problem.ts'

interface RunnerOptions {
  readonly source: ScenarioSource
  readonly onNotice?: OnScenarioNotice
  /** See `FunctionCaller`. */
  readonly returned?: ((call: string) => Promise<void>) | undefined
}

/** Starts and stops the scenarios of all sandboxes of one process, calls their functions, and follows changes of the scripts. */
export class ScenarioRunner {
  readonly #options: RunnerOptions
  readonly #source: ScenarioSource
  readonly #callers = new Map<Sandbox, FunctionCaller>()
  /** Why the newest version is not in force. */
  readonly #problems = new WeakMap<Sandbox, string>()
  readonly #turns = new WeakMap<Sandbox, Promise<unknown>>()
  readonly #stopHearing: () => void
  #isLoaded: boolean

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#source = options.source
    this.#isLoaded = this.#source.load === undefined
    this.#stopHearing = this.#source.onChange(() => {
      for (const sandbox of this.#callers.keys()) this.#follow(sandbox)
    })
  }

  /** Runs the scenario of a sandbox, which continues where it was. @returns detaches the sandbox */
  attach(sandbox: Sandbox): Cancel {
    const caller = new FunctionCaller({
      sandbox,
      source: this.#source,
      returned: this.#options.returned,
      onLog: (text, { scenario }) =>
        this.#notify('info', 'scenario_output', `${this.#title(sandbox, scenario)}: ${text}`),
    })
    this.#callers.set(sandbox, caller)
    const stops = [
      sandbox.deliveries.add(caller),
      sandbox.listeners.onReplaced(() => this.#follow(sandbox)),
      sandbox.listeners.onEvent(({ ref, error }) => {
        if (error !== undefined && ref.startsWith('scenario/')) {
          const [, name = ''] = ref.split('/')
          this.#notify('warn', 'scenario_failed', `${this.#title(sandbox, name)}: ${ref}: ${error}`)
        }
      }),
    ]
    this.#follow(sandbox)
    if (this.#isLoaded) caller.start()
    return () => {
      for (const stop of stops) stop()
      this.#callers.delete(sandbox)
      caller.stop()
    }
  }

  /** Stops following changes of the scripts. */
  close(): void {
    this.#stopHearing()
  }

  /** Lists every scenario, with its state on the sandbox. */
  async list(sandbox: Sandbox): Promise<readonly ListedScenario[]> {
    await this.#load()
    const active = activeOn(sandbox)?.name
    return this.#source.list().map(({ problems, ...entry }) => ({
      ...entry,
      error: problems.length === 0 ? null : problems.map(problemLine).join('\n'),
      active: entry.name === active,
    }))
  }

  /** One script with its text. Refuses an unknown name. */
  async show(sandbox: Sandbox, name: string): Promise<ShownScenario> {
    await this.#load(name)
    this.#entry(name)
    const listed = (await this.list(sandbox)).find((each) => each.name === name) as ListedScenario
    // The name of a scenario that is not in a file could be that of any file.
    const source = isAbsolute(listed.file) ? await readFile(listed.file, 'utf8').catch(() => null) : null
    return { ...listed, source }
  }

  /** Loads changed scripts at once. Active scenarios are swapped before it resolves. */
  async refresh(): Promise<void> {
    await this.#load()
    await this.#source.refresh?.()
  }

  /** The scenario that is active on a sandbox; null if there is none. */
  active(sandbox: Sandbox): ActiveScenario | null {
    const row = activeOn(sandbox)
    if (row === undefined) return null
    const { name, generation, started_at, on } = row
    return {
      name,
      generation,
      started_at,
      hooks: on,
      pending_calls: sandbox.store.rows(scenarioCalls.name).size,
      problem: this.#problems.get(sandbox) ?? null,
      last_error: lastFailure(sandbox, row),
    }
  }

  /** Starts a scenario on a sandbox and replaces the active one. If it refuses, nothing has changed. */
  start(sandbox: Sandbox, name: string, { start, onBegin }: BeginOptions = {}): Promise<ActiveScenario> {
    return this.#inTurn(sandbox, async () => {
      await this.#load(name)
      const scenario = this.#named(name)
      const beginning = { scenario, fixtures: await fixturesOf(scenario), onBegin }
      if (start === undefined) await startScenario(sandbox, beginning)
      else await startAnew(sandbox, await start(), beginning)
      this.#problems.delete(sandbox)
      // The script may have changed while its fixtures were built.
      this.#follow(sandbox)
      return this.active(sandbox) as ActiveScenario // it has just been started
    })
  }

  /** Starts a scenario, unless it is already active, for example after a restart of the emulator. */
  async begin(sandbox: Sandbox, name: string): Promise<void> {
    if (activeOn(sandbox)?.name !== name) await this.start(sandbox, name)
  }

  /** Stops the scenario of a sandbox. Refuses with `conflict` if none is active. @returns its name */
  stop(sandbox: Sandbox, onBegin?: () => void): Promise<string> {
    return this.#inTurn(sandbox, async () => {
      const { name } = stopScenario(sandbox) ?? refuse('conflict', NONE_ACTIVE)
      onBegin?.()
      this.#problems.delete(sandbox)
      return name
    })
  }

  #named(name: string): ScenarioDefinition {
    const found = this.#source.get(name)
    if (found !== undefined) return found
    return refuse('conflict', {
      detail: `The scenario "${name}" is broken: ${this.#entry(name).problems.map(problemLine).join('; ')}`,
      mitigation: 'Repair the file: it is loaded again when it is saved.',
    })
  }

  #entry(name: string): ScenarioEntry {
    const all = this.#source.list()
    const names = all.map((each) => each.name)
    const fix = '"workspace-emulator scenario list" lists them.'
    return all.find((each) => each.name === name) ?? refuseUnknown('scenario', name, names, fix)
  }

  // The compiler of scripts takes a fifth of a second to load, so scripts are loaded only when they are needed.
  async #load(name?: string): Promise<void> {
    await this.#source.load?.(name)
    if (this.#isLoaded) return
    this.#isLoaded = true
    for (const [sandbox, caller] of this.#callers) {
      this.#follow(sandbox)
      caller.start()
    }
  }

  // A changed script replaces its older version; if it does not fit the sandbox, the older version stays in force.
  #follow(sandbox: Sandbox): void {
    const active = activeOn(sandbox)
    if (active === undefined || sandbox.listeners.closedReason !== undefined) return
    // Before its script is loaded, so that an advance waits for its functions.
    this.#callers.get(sandbox)?.start()
    if (!this.#isLoaded || this.#isUnread(active.name)) {
      this.#load(active.name)
        .then(() => this.#follow(sandbox))
        .catch(sandbox.options.onDefect)
      return
    }
    const scenario = this.#source.get(active.name)
    try {
      if (scenario === undefined) {
        this.#complain(sandbox, active, 'its script is missing, so none of its functions can be called')
        return
      }
      swapScenario(sandbox, scenario)
      this.#problems.delete(sandbox)
    } catch (error) {
      // The error must not reach a caller that has only saved a file or restored a sandbox.
      if (!(error instanceof Refusal)) sandbox.options.onDefect(error)
      this.#complain(sandbox, active, `${scenario?.file}: ${(error as Error).message}`)
    }
  }

  // A built-in scenario is listed before it is loaded.
  #isUnread(name: string): boolean {
    const isListed = this.#source.list().some((entry) => entry.name === name && entry.valid)
    return isListed && this.#source.get(name) === undefined
  }

  #complain(sandbox: Sandbox, { name }: ScenarioRow, problem: string): void {
    if (this.#problems.get(sandbox) === problem) return
    this.#problems.set(sandbox, problem)
    const message = `${this.#title(sandbox, name)} keeps its present version: ${problem}`
    this.#notify('warn', 'scenario_failed', message)
  }

  #title({ name: sandbox }: Sandbox, name: string): string {
    return `The scenario ${name} of the sandbox ${sandbox}`
  }

  #notify(level: 'info' | 'warn', event: 'scenario_output' | 'scenario_failed', message: string): void {
    this.#options.onNotice?.({ level, event, message })
  }

  // One at a time: a start reads the state first, and writes it later.
  #inTurn<T>(sandbox: Sandbox, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(sandbox) ?? Promise.resolve()).then(work)
    this.#turns.set(
      sandbox,
      turn.catch(() => {}),
    )
    return turn
  }
}

const NONE_ACTIVE = {
  detail: 'No scenario is active on this sandbox.',
  mitigation:
    '"workspace-emulator scenario list" lists them, "workspace-emulator scenario start NAME" starts one.',
}

async function fixturesOf({ fixtures }: ScenarioDefinition): Promise<Fixtures | undefined> {
  if (fixtures === undefined) return undefined
  try {
    return await readFixtures(fixtures)
  } catch (error) {
    if (!(error instanceof FixturesError)) throw error
    refuseInvalid(error.issues.map((issue) => ({ ...issue, pointer: `/fixtures${issue.pointer}` })))
    throw error
  }
}

function lastFailure({ store }: Sandbox, { name }: ScenarioRow): ScenarioFailure | null {
  const failed = [...store.rows(FAILED_EVENTS).values()] as unknown as readonly FailedEvent[]
  const last = failed
    .filter(({ ref }) => ref.startsWith(`scenario/${name}/`))
    .sort((a, b) => Date.parse(a.due_at) - Date.parse(b.due_at))
    .at(-1)
  return last === undefined ? null : { at: last.due_at, ref: last.ref, message: last.error }
}
