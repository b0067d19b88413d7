import { COUNTERS, type CountersRow, WORLD } from '../state/state.ts'
import type { Transaction } from '../state/store.ts'
import { refOfFunction, type ScenarioCall, scenarioCalls } from './row.ts'

/** Leaves a function of a scenario to be called, behind those that have been left before. */
export function leaveCall(tx: Transaction, call: Omit<ScenarioCall, 'id'>): void {
  const counters = tx.get(WORLD, COUNTERS) as CountersRow
  const events = counters.events + 1
  tx.put(WORLD, { ...counters, events } as CountersRow)
  tx.in(scenarioCalls).put({ id: `${refOfFunction(call.scenario, call.ref)}#${events}`, ...call })
}

/** Takes back what has been left by a scenario. */
export function dropCalls(tx: Transaction, scenario: string): void {
  const calls = tx.in(scenarioCalls)
  for (const { id } of calls.filter((call) => call.scenario === scenario)) calls.delete(id)
}
