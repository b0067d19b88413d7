import { Refusal, refuse, refuseInvalid } from '../errors.ts'
import { replaceState } from '../sandboxes/change.ts'
import { Sandbox } from '../sandboxes/sandbox.ts'
import { LATE_FIXTURES, type MergePlan, planMerge, writeMerge } from '../state/merge-fixtures.ts'
import type { Fixtures } from '../state/starting-state.ts'
import { SANDBOX_TABLE, type SandboxState } from '../state/state.ts'
import { advance } from '../time/advance.ts'
import { MAX_EVENTS } from '../time/event-tally.ts'
import { formatInstant } from '../time/instant.ts'
import { runDueEvents, runEvents } from '../time/run-events.ts'
import { activate, activeOn, checkScenario, removeEffects, scopeUnder, stopScenario } from './force.ts'
import type { ScenarioRow } from './row.ts'
import type { ScenarioDefinition } from './source.ts'

/** How a scenario starts. */
export interface BeginOptions {
  /** Creates the state that the scenario starts on; absent: the present state of the sandbox. */
  readonly start?: (() => Promise<SandboxState>) | undefined
  /** Called in the turn in which it acts on the sandbox, after it has read the clock. */
  readonly onBegin?: (() => void) | undefined
}

/** A scenario, and its fixtures as far as they have been read. */
export interface ScenarioWithFixtures extends Pick<BeginOptions, 'onBegin'> {
  readonly scenario: ScenarioDefinition
  readonly fixtures: Fixtures | undefined
}

/**
 * Starts a scenario on a sandbox and replaces the active one. When the scenario has its own `clock.now`, the clock advances
 * to it first. Refuses an invalid scenario with all issues, by pointers into it, and then nothing has changed.
 */
export async function startScenario(sandbox: Sandbox, beginning: ScenarioWithFixtures): Promise<void> {
  runDueEvents(sandbox)
  const { scenario } = beginning
  const begin = instantOf(sandbox, scenario)
  const merge = await plan(sandbox, beginning, begin)
  if (begin > sandbox.clock.now) {
    sandbox.advances.refuseOther()
    // Time cannot go back, so the start is tried on a copy before the clock advances.
    write(new Sandbox(sandbox.options, sandbox.capture()), beginning, merge)
    beginning.onBegin?.()
    const active = stopScenario(sandbox)
    const { stopped, to } = await advance(
      sandbox,
      { to: (now) => Math.max(now, begin) },
      { maxEvents: MAX_EVENTS },
    )
    if (stopped !== undefined) refuseTooFar(scenario, to, active)
  }
  if (merge !== undefined && begin < sandbox.clock.now) sandbox.recording.cannotRepeat(LATE_FIXTURES)
  beginning.onBegin?.()
  write(sandbox, beginning, merge)
  // At the instant of the start, which a replay can repeat: the clock is not read again.
  runEvents(sandbox, sandbox.clock.now)
}

/** As {@link startScenario}, but on a starting state, which replaces the whole state of the sandbox. */
export async function startAnew(sandbox: Sandbox, start: SandboxState, beginning: ScenarioWithFixtures) {
  sandbox.advances.refuseOther()
  const twin = new Sandbox(sandbox.options, start)
  await startScenario(twin, beginning)
  replaceState(sandbox, twin.capture())
}

function instantOf(sandbox: Sandbox, { clock, name }: ScenarioDefinition): number {
  const { now } = sandbox.clock
  const begin = clock?.now === undefined ? now : Date.parse(clock.now)
  if (begin >= now) return begin
  return refuse('conflict', {
    detail: `The scenario "${name}" begins at ${formatInstant(begin)}, but the clock is already at ${formatInstant(now)} and can only move forward.`,
    mitigation: `Begin with the starting state: "workspace-emulator scenario start ${name} --reset".`,
  })
}

function refuseTooFar({ clock, name }: ScenarioDefinition, reached: string, stopped?: ScenarioRow): never {
  const before = stopped === undefined ? '' : ` The scenario "${stopped.name}" has been stopped.`
  return refuse('conflict', {
    detail: `The scenario "${name}" begins at ${clock?.now}, and more than ${MAX_EVENTS} events are due until then. The clock is at ${reached}.${before}`,
    mitigation: `Continue with "workspace-emulator clock advance --to ${clock?.now}"; start the scenario when the clock has reached that instant.`,
  })
}

// Done before the transaction, because records are generated asynchronously.
async function plan(sandbox: Sandbox, { scenario, fixtures }: ScenarioWithFixtures, begin: number) {
  const { settings } = checkScenario(sandbox, scenario, begin)
  if (fixtures === undefined) return undefined
  try {
    return await planMerge(sandbox, fixtures, { now: begin, settings })
  } catch (error) {
    const { issues = [] } = error instanceof Refusal ? error.options : {}
    refuseInvalid(issues.map((issue) => ({ ...issue, pointer: `/fixtures${issue.pointer}` })))
    throw error
  }
}

// Writes everything in one transaction: all of it, or nothing when it throws.
function write(sandbox: Sandbox, { scenario }: ScenarioWithFixtures, merge: MergePlan | undefined): void {
  const checked = checkScenario(sandbox, scenario, sandbox.clock.now)
  const scope = scopeUnder(sandbox, checked.settings, `scenario/${scenario.name}`)
  const active = activeOn(sandbox)
  if (active !== undefined) removeEffects(sandbox, scope, active)
  const { rate, skip_on_poll } = scenario.clock ?? {}
  if (rate !== undefined || skip_on_poll !== undefined)
    scope.tx.put(SANDBOX_TABLE, sandbox.clock.rowWith({ rate, skip_on_poll }))
  if (merge !== undefined) writeMerge(sandbox, scope, merge)
  activate(sandbox, scope, checked)
  sandbox.commit(scope)
}
