import { refuse } from '../errors.ts'
import type { Happening, Scope, Service } from '../operation.ts'
import { type Change, statusOf } from '../state/commit.ts'
import { WORLD } from '../state/state.ts'
import type { Store } from '../state/store.ts'
import { leaveCall } from './calls.ts'
import { SCENARIO, type ScenarioCall, type ScenarioRow, scenarioCalls } from './row.ts'

/** Hooks may lead to hooks so often; more means that they go round in a circle while time stands still. */
export const MOST_HOPS = 100

/**
 * Leaves a call for every hook of the active scenario that a transaction gives rise to, in that transaction. To be called
 * before it is committed. Refuses what a chain of hooks without an end does.
 */
export function leaveHookCalls(
  { tx, at, cause }: Pick<Scope, 'tx' | 'at' | 'cause'>,
  store: Store,
  service: Service,
): void {
  const active = store.get(WORLD, SCENARIO) as ScenarioRow | undefined
  // What a scenario does by starting or stopping is no event of its own.
  if (active === undefined || active.on.length === 0 || tx.get(WORLD, SCENARIO) !== active) return
  const hooks = active.on.flatMap((name) => service.happenings.get(name) ?? [])
  for (const change of tx.changes()) {
    for (const happening of hooks) {
      if (!hasHappened(happening, change)) continue
      const { before, after, table, id } = change
      const [from = null, to = null] = [statusOf(before), statusOf(after)]
      leaveCall(tx, {
        scenario: active.name,
        ref: { on: happening.name },
        at,
        event: { name: happening.name, at, ref: `${table}/${id}`, from, to, caused_by: cause },
        batch: service.scripts.get('batch')?.table === table ? id : null,
        depth: depthBehind(store, cause, active.name),
        caused_by: cause,
      })
    }
  }
}

// A record that comes into the world with a status, from a fixture say, has not come to have it.
function hasHappened({ table, status }: Happening, { before, after, ...change }: Change): boolean {
  if (change.table !== table || after === undefined) return false
  if (status === null) return before === undefined
  return before !== undefined && statusOf(after) === status && statusOf(before) !== status
}

function depthBehind(store: Store, cause: string, scenario: string): number {
  const earlier = store.get(scenarioCalls.name, cause) as ScenarioCall | undefined
  const depth = earlier === undefined ? 0 : earlier.depth + 1
  if (depth < MOST_HOPS) return depth
  return refuse('conflict', {
    detail: `Hooks of the scenario "${scenario}" have called each other ${MOST_HOPS} times.`,
    mitigation: 'Let the hook look at what it finds, and leave alone what is already as it should be.',
  })
}
