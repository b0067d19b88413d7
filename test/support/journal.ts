import { refuse } from '../../src/core/errors.ts'
import type { Journal } from '../../src/core/state/commit.ts'

/** A journal that calls `append` for each commit. */
export function journalOf(append: Journal['append']): Journal {
  return { append, flush: () => {} }
}

/** A journal that can write nothing. */
export const fullDisk: Journal = journalOf(() =>
  refuse('storage_unavailable', { detail: 'The disk is full.' }),
)
