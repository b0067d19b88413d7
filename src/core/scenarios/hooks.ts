import type { RecordEvent, Scope } from '../operation.ts'
import type { Service } from '../service.ts'
import { type Change, recordStatus } from '../state/commit.ts'
import { nextFree } from '../state/counters.ts'
import { SANDBOX_TABLE } from '../state/state.ts'
import type { Store } from '../state/store.ts'
import type { Transaction } from '../state/transaction.ts'
import { type HookChain, SCHEDULE, type ScheduledEvent } from '../time/scheduler.ts'
import { refOfFunction, SCENARIO, type ScenarioCall, type ScenarioRow, scenarioCalls } from './row.ts'

/** How often hooks may trigger hooks; more means a loop. */
export const MAX_HOPS = 100

/** Virtual milliseconds of waiting, over all events of a chain, after which the count of its hooks starts again at 0. */
const REST = 1_000

/**
 * Adds a call for every hook of the active scenario that a transaction triggers, in that transaction. Call it before the
 * commit. The events that a hook schedules contain the length of its chain: otherwise a loop of hooks and events would never
 * end.
 */
export function addHookCalls(scope: Scope, store: Store, service: Service): void {
  const { tx, at, cause } = scope
  const active = store.get(SANDBOX_TABLE, SCENARIO) as ScenarioRow | undefined
  // Changes by the start or the stop of a scenario trigger no hooks.
  if (active === undefined || active.on.length === 0 || tx.get(SANDBOX_TABLE, SCENARIO) !== active) return
  const hooks = active.on.flatMap((name) => service.recordEvents.get(name) ?? [])
  const chain = chainBehind(store, cause)
  const next: HookChain =
    chain === undefined || chain.waited >= REST
      ? { depth: 0, waited: 0 }
      : { depth: chain.depth + 1, waited: chain.waited }
  for (const change of tx.changes()) {
    if (chain !== undefined && change.table === SCHEDULE) carryOn(scope, chain, change)
    for (const happening of hooks) {
      if (!hasHappened(happening, change)) continue
      const { before, after, table, id } = change
      const [from = null, to = null] = [recordStatus(before), recordStatus(after)]
      addCall(tx, {
        scenario: active.name,
        ref: { on: happening.name },
        at,
        event: { name: happening.name, at, ref: `${table}/${id}`, from, to, caused_by: cause },
        ...next,
        caused_by: cause,
      })
    }
  }
}

// A record that is added with a status, for example from a fixture, has not changed to this status.
function hasHappened({ table, status }: RecordEvent, { before, after, ...change }: Change): boolean {
  if (change.table !== table || after === undefined) return false
  if (status === null) return before === undefined
  return before !== undefined && recordStatus(after) === status && recordStatus(before) !== status
}

/** The message for a call that is not made because its hooks form a loop; undefined for any other call. */
export function circleOf({ depth, ref }: ScenarioCall): string | undefined {
  if (depth < MAX_HOPS || !('on' in ref)) return undefined
  return `Hooks have caused a chain of ${MAX_HOPS} calls of hooks with less than ${REST} ms of virtual time between them, so the hook on ${ref.on} is not called again. Check the record in the hook and change it only when needed, or let virtual time pass between the changes.`
}

// The effects of a function, and of an event that it scheduled, belong to the chain of its call.
function chainBehind(store: Store, cause: string): HookChain | undefined {
  const call = store.get(scenarioCalls.name, cause) as ScenarioCall | undefined
  if (call !== undefined) return { depth: call.depth, waited: call.waited ?? 0 }
  return (store.get(SCHEDULE, cause) as ScheduledEvent | undefined)?.hooks
}

// Adds the scheduled wait, not the time on the clock: on a running clock a slow machine would add time.
function carryOn({ tx, at, cause }: Scope, { depth, waited }: HookChain, { after }: Change): void {
  const event = after as ScheduledEvent | undefined
  if (event === undefined || event.caused_by !== cause) return
  const wait = Math.max(0, Date.parse(event.due_at) - Date.parse(at))
  const hooks: HookChain = { depth, waited: waited + wait }
  tx.put(SCHEDULE, { ...event, hooks } as ScheduledEvent)
}

/** Adds a call of a scenario's function, after those that are pending. */
export function addCall(tx: Transaction, call: Omit<ScenarioCall, 'id'>): void {
  const id = nextFree(tx, 'events', (n) => `${refOfFunction(call.scenario, call.ref)}#${n}`)
  tx.in(scenarioCalls).insert({ id, ...call })
}

/** Removes the pending calls of a scenario. */
export function removeCalls(tx: Transaction, scenario: string): void {
  const calls = tx.in(scenarioCalls)
  for (const { id } of calls.filter((call) => call.scenario === scenario)) calls.delete(id)
}
