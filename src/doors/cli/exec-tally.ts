import { type FaultCounter, faultCounters, faultRules } from '../../kernel/faults/rule.ts'
import type { LogEntry } from '../../kernel/log/request-log.ts'
import type { Change } from '../../kernel/state/commit.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'

/** What becomes of requests: a class of statuses, a status of none, or `cut` before there was one. */
export const OUTCOMES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other', 'cut'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** How many requests to one operation came to what. */
export interface OperationCount {
  /** Null for requests that fit no operation. */
  readonly operation: string | null
  readonly total: number
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>
}

/** What became of the fault rules with one id, in all sandboxes. */
export interface FaultCount {
  readonly id: string
  /** How often it was armed; a sandbox arms its own. */
  readonly armed: number
  readonly fired: number
  /** How many of those that were armed have never fired. */
  readonly never_fired: number
}

/** An answer that only a defect of the emulator, or its disk, can explain. */
export interface Unexpected {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly detail: string
}

/** Of these no more than so many are kept: a run may have any number. */
const MOST_UNEXPECTED = 10

/** Counts what a run does to an emulator, over all its sandboxes and whatever becomes of them. */
export class Tally {
  readonly #operations = new Map<string | null, Map<Outcome, number>>()
  readonly #assumed = new Map<string, number>()
  readonly #faults = new Map<string, { armed: number; fired: number; never_fired: number }>()
  readonly #unexpected: Unexpected[] = []
  #unexpectedTotal = 0

  /** Counts all that happens in a sandbox from now on. */
  watch(sandbox: Sandbox): void {
    const armed = new Map(sandbox.faults.rules.map(({ id }) => [id, 0]))
    sandbox.log.onEntry((entry) => this.#count(entry))
    sandbox.store.onCommit(({ changes }) => {
      for (const change of changes) this.#follow(change, armed)
    })
    sandbox.onRetired(() => {
      for (const [id, fired] of armed) this.#disarmed(id, fired)
      armed.clear()
    })
  }

  /** In the order in which operations were first called. */
  get operations(): OperationCount[] {
    return [...this.#operations].map(([operation, outcomes]) => ({
      operation,
      total: [...outcomes.values()].reduce((sum, n) => sum + n, 0),
      outcomes: Object.fromEntries(OUTCOMES.flatMap((each) => entryOf(outcomes, each))),
    }))
  }

  /** The rules of sandboxes that are closed, and those that were removed. */
  get faults(): FaultCount[] {
    return [...this.#faults].map(([id, counts]) => ({ id, ...counts }))
  }

  /** How many answers rested on which open items, the most used ones first. */
  get assumed(): readonly (readonly [id: string, answers: number])[] {
    return [...this.#assumed].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  }

  /** The first of them, and how many there were. */
  get unexpected(): { readonly total: number; readonly data: readonly Unexpected[] } {
    return { total: this.#unexpectedTotal, data: this.#unexpected }
  }

  #count(entry: LogEntry): void {
    const { operation = null, assumed, faults } = entry
    const outcomes = this.#operations.get(operation) ?? new Map<Outcome, number>()
    this.#operations.set(operation, outcomes)
    add(outcomes, outcomeOf(entry))
    for (const id of assumed) add(this.#assumed, id)
    // Those that a request asks for by its own values are in no table.
    for (const { rule } of faults?.fired ?? []) if (rule.source === 'magic') this.#disarmed(rule.id, 1)
    if (isUnexpected(entry)) this.#keep(entry)
  }

  #keep({ id, method, path, status, error }: LogEntry): void {
    this.#unexpectedTotal += 1
    if (this.#unexpected.length >= MOST_UNEXPECTED) return
    this.#unexpected.push({ id, method, path, status, detail: error?.detail ?? '' })
  }

  #follow({ table, id, before, after }: Change, armed: Map<string, number>): void {
    if (table === faultCounters.name) {
      const [was, is] = [before as FaultCounter | undefined, after as FaultCounter | undefined]
      const fired = is === undefined || is.key !== null ? 0 : is.fired - (was?.fired ?? 0)
      if (is !== undefined && fired > 0) armed.set(is.rule, (armed.get(is.rule) ?? 0) + fired)
    }
    if (table !== faultRules.name) return
    if (before === undefined && !armed.has(id)) armed.set(id, 0)
    if (after === undefined) {
      this.#disarmed(id, armed.get(id) ?? 0)
      armed.delete(id)
    }
  }

  #disarmed(id: string, fired: number): void {
    const counts = this.#faults.get(id) ?? { armed: 0, fired: 0, never_fired: 0 }
    counts.armed += 1
    counts.fired += fired
    if (fired === 0) counts.never_fired += 1
    this.#faults.set(id, counts)
  }
}

function outcomeOf({ status }: LogEntry): Outcome {
  if (status === 0) return 'cut'
  return OUTCOMES.find((each) => each === `${Math.floor(status / 100)}xx`) ?? 'other'
}

// What was asked for is expected: a fault, a stub, an endpoint without a contract.
function isUnexpected({ status, faults, stubbed, error }: LogEntry): boolean {
  if (status < 500 || stubbed !== undefined || (faults?.fired ?? []).length > 0) return false
  return error?.code !== 'emulator_contract_unspecified'
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function entryOf<K>(counts: ReadonlyMap<K, number>, key: K): [K, number][] {
  const count = counts.get(key)
  return count === undefined ? [] : [[key, count]]
}
