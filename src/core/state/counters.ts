import { refuse } from '../errors.ts'
import { LAST_NUMBER, objectId, uuid } from '../random.ts'
import { COUNTERS, type CountersRow, SANDBOX_TABLE } from './state.ts'
import type { Transaction } from './transaction.ts'

/** The counters that are part of the state. */
export type Counter = keyof Omit<CountersRow, 'id'>

const ID_OF = { ids: objectId, uuids: uuid } as const

/**
 * The next free id of a sandbox. It skips existing ids: a fixture, an import or an edit may have added them. The counter is
 * part of the transaction, so later ids do not depend on refused requests. Refuses with `conflict` after the last number.
 */
export function nextId(tx: Transaction, seed: number, counter: keyof typeof ID_OF): string {
  return nextFree(tx, counter, (n) => ID_OF[counter](seed, n))
}

/** As {@link nextId}, for ids of another form. */
export function nextFree(tx: Transaction, counter: Counter, idOf: (n: number) => string): string {
  const counters = countersOf(tx)
  const { n, id } = freeAfter(tx, counters[counter], idOf)
  set(tx, counters, counter, n)
  return id
}

/** The next number of a counter. */
export function nextNumber(tx: Transaction, counter: Counter): number {
  const counters = countersOf(tx)
  const next = counters[counter] + 1
  set(tx, counters, counter, next)
  return next
}

/** Moves the counters past existing ids, so that the next id is free. */
export function countPast(tx: Transaction, seed: number): void {
  const before = countersOf(tx)
  const ids = freeAfter(tx, before.ids, (n) => objectId(seed, n)).n - 1
  const uuids = freeAfter(tx, before.uuids, (n) => uuid(seed, n)).n - 1
  if (ids !== before.ids || uuids !== before.uuids)
    tx.put(SANDBOX_TABLE, { ...before, ids, uuids } as CountersRow)
}

/** The first number above `after` whose id is free. */
function freeAfter(tx: Transaction, after: number, idOf: (n: number) => string) {
  for (let n = after + 1; ; n++) {
    const id = idOf(n)
    if (!tx.isTaken(id)) return { n, id }
  }
}

function set(tx: Transaction, counters: CountersRow, counter: Counter, n: number): void {
  if (n > LAST_NUMBER) {
    refuse('conflict', {
      detail: `The counter "${counter}" of this sandbox is at ${LAST_NUMBER}, its maximum.`,
      mitigation: `"workspace-emulator state import FILE" with a lower /counters/${counter}, or "workspace-emulator reset". Existing ids are skipped.`,
    })
  }
  tx.put(SANDBOX_TABLE, { ...counters, [counter]: n } as CountersRow)
}

function countersOf(tx: Transaction): CountersRow {
  return tx.get(SANDBOX_TABLE, COUNTERS) as CountersRow
}
