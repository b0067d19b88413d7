import { Refusal, refuse, refuseInvalid } from '../errors.ts'
import { type MergePlan, planMerge, writeMerge } from '../state/merge-fixtures.ts'
import type { Fixtures } from '../state/starting-world.ts'
import { WORLD, type WorldState } from '../state/state.ts'
import { clockRow } from '../time/clock.ts'
import { formatInstant } from '../time/instant.ts'
import { Sandbox } from '../worlds/sandbox.ts'
import { activeOn, checkScenario, enforce, scopeUnder, stopScenario, takeBack } from './force.ts'
import type { LoadedScenario } from './source.ts'

/** A scenario, and its fixtures as far as they have been read. */
export interface Beginning {
  readonly scenario: LoadedScenario
  readonly fixtures: Fixtures | undefined
}

/**
 * Starts a scenario on a world, in the place of one that is active there. Where it has an instant of its own, time passes up
 * to that first. Refuses it whole, and then nothing has changed, with everything that is wrong, by pointers into it.
 */
export async function startScenario(sandbox: Sandbox, beginning: Beginning): Promise<void> {
  sandbox.catchUp()
  const begin = instantOf(sandbox, beginning.scenario)
  const merge = await plan(sandbox, beginning, begin)
  if (begin > sandbox.clock.now) {
    // Time cannot be taken back, so that it only passes for a scenario that will start.
    write(twinOf(sandbox, sandbox.capture()), beginning, merge)
    stopScenario(sandbox)
    await sandbox.advance({ to: (now) => Math.max(now, begin) })
  }
  write(sandbox, beginning, merge)
  sandbox.catchUp()
}

/** As {@link startScenario} on a starting world, which takes the place of everything that the sandbox holds. */
export async function startAnew(sandbox: Sandbox, start: WorldState, beginning: Beginning): Promise<void> {
  const twin = twinOf(sandbox, start)
  await startScenario(twin, beginning)
  sandbox.become(twin.capture())
}

// A world of its own, on which the same can be done without anybody seeing it.
function twinOf(sandbox: Sandbox, world: WorldState): Sandbox {
  return new Sandbox(sandbox.options, world)
}

function instantOf(sandbox: Sandbox, { clock, name }: LoadedScenario): number {
  const { now } = sandbox.clock
  const begin = clock?.now === undefined ? now : Date.parse(clock.now)
  if (begin >= now) return begin
  return refuse('conflict', {
    detail: `The scenario "${name}" begins at ${formatInstant(begin)}, and the clock stands at ${formatInstant(now)} already; it only goes forward.`,
    mitigation: `Begin with the starting world: POST /__emulator/scenarios/${name}/start {"reset": true}.`,
  })
}

// Made ahead, because records that are generated have to be waited for.
async function plan(
  sandbox: Sandbox,
  { scenario, fixtures }: Beginning,
  begin: number,
): Promise<MergePlan | undefined> {
  const { settings } = checkScenario(sandbox, scenario, begin)
  if (fixtures === undefined) return undefined
  try {
    return await planMerge(sandbox, fixtures, { now: begin, settings })
  } catch (error) {
    return refuseFixtures(error)
  }
}

// One transaction: either all of it is there when this returns, or nothing is.
function write(sandbox: Sandbox, { scenario }: Beginning, merge: MergePlan | undefined): void {
  sandbox.catchUp()
  const checked = checkScenario(sandbox, scenario, sandbox.clock.now)
  const scope = scopeUnder(sandbox, checked.settings, `scenario/${scenario.name}`)
  const active = activeOn(sandbox)
  if (active !== undefined) takeBack(scope, active)
  const { rate, skip_on_poll } = scenario.clock ?? {}
  if (rate !== undefined || skip_on_poll !== undefined) {
    const passing = { rate: rate ?? sandbox.clock.rate, skip_on_poll: skip_on_poll ?? sandbox.skipsOnPoll }
    scope.tx.put(WORLD, clockRow({ now: sandbox.clock.now, ...passing }, sandbox.options.host))
  }
  if (merge !== undefined) writeMerge(sandbox, scope, merge)
  enforce(sandbox, scope, checked)
  sandbox.commit(scope)
}

function refuseFixtures(error: unknown): never {
  const { issues = [] } = error instanceof Refusal ? error.options : {}
  refuseInvalid(issues.map((issue) => ({ ...issue, pointer: `/fixtures${issue.pointer}` })))
  throw error
}
