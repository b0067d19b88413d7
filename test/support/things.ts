import type { Row } from '../../src/core/state/commit.ts'
import { Store } from '../../src/core/state/store.ts'

/** A record of the only collection of a store. */
export interface Thing extends Row {
  readonly value: number
}

export const things = { name: 'things', label: 'thing' } as { name: string; label: string; record?: Thing }

/** The instant of all commits. */
export const NOW = '2026-03-01T12:00:00.000Z'

export function storeWith(...rows: Thing[]): Store {
  const store = new Store()
  store.load('things', rows)
  return store
}

export function contents(store: Store): Row[] {
  return [...store.rows('things').values()]
}
