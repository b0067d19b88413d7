import type { Commit } from '../state/commit.ts'
import type { Store } from '../state/store.ts'
import { type FaultCounter, faultCounters } from './rule.ts'

const NONE: ReadonlySet<string> = new Set()

/**
 * The counters of each rule that have a key, oldest first. Built on first use, then updated with each commit: a rule that
 * counts by values of callers can have thousands, too many to search on every request.
 */
export class CountedKeys {
  readonly #store: Store
  #byRule: Map<string, Set<string>> | undefined

  constructor(store: Store) {
    this.#store = store
    store.onCommit((commit) => this.#follow(commit))
  }

  /** Ids of the counters of a rule that have a key. */
  of(rule: string): ReadonlySet<string> {
    this.#byRule ??= this.#grouped()
    return this.#byRule.get(rule) ?? NONE
  }

  #grouped(): Map<string, Set<string>> {
    const groups = new Map<string, Set<string>>()
    for (const row of this.#store.rows(faultCounters.name).values()) add(groups, row as FaultCounter)
    return groups
  }

  #follow({ changes, order, tables }: Commit): void {
    // A replaced sandbox has its own order of rows, so the index is built again.
    if (order !== undefined || tables !== undefined) this.#byRule = undefined
    if (this.#byRule === undefined) return
    for (const { table, before, after } of changes) {
      if (table !== faultCounters.name) continue
      if (after !== undefined) add(this.#byRule, after as FaultCounter)
      else if (before !== undefined) this.#byRule.get((before as FaultCounter).rule)?.delete(before.id)
    }
  }
}

function add(groups: Map<string, Set<string>>, { id, rule, key }: FaultCounter): void {
  if (key === null) return
  const group = groups.get(rule) ?? new Set()
  groups.set(rule, group.add(id))
}
