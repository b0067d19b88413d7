import { type Issue, pointer } from '../kernel/json.ts'
import type { Row } from '../kernel/state/commit.ts'
import type { TableOf, Transaction } from '../kernel/state/store.ts'

/** The issue of a record whose member at `at` names a record that the world does not have; nothing when it has it. */
export function missing<T extends Row>(
  tx: Transaction,
  table: TableOf<T>,
  id: string,
  ...at: readonly string[]
): readonly Issue[] {
  if (tx.in(table).get(id) !== undefined) return []
  return [{ pointer: pointer(...at), detail: `there is no ${table.label} with the id "${id}"` }]
}
