import { refuse } from '../kernel/errors.ts'
import type { Row } from '../kernel/state/commit.ts'
import type { TableOf, Transaction } from '../kernel/state/store.ts'

/**
 * The record with this id, where the caller may see it. Otherwise `not_found`, in the same words whether it does not exist
 * or belongs to somebody else, so that the answer tells nothing about it (U023).
 */
export function requireVisible<T extends Row>(
  tx: Transaction,
  table: TableOf<T>,
  id: string | undefined,
  visible: (record: T) => boolean,
): T {
  const record = id === undefined ? undefined : tx.in(table).get(id)
  if (record !== undefined && visible(record)) return record
  return refuse('not_found', { detail: `There is no ${table.label} with the id "${id ?? ''}".` })
}
