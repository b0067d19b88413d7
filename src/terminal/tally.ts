import type { Finding } from '../core/conduct/finding.ts'
import { conductOf } from '../core/conduct/report.ts'
import { type FaultCounter, faultCounters, faultRules } from '../core/faults/rule.ts'
import type { LogEntry } from '../core/log/request-log.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import type { Change } from '../core/state/commit.ts'

/**
 * The outcome of a request: a class of statuses, `other` for a status without a class, or `cut` for a request without a status.
 */
export const REQUEST_OUTCOMES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other', 'cut'] as const
type Outcome = (typeof REQUEST_OUTCOMES)[number]

const MAX_FINDINGS = 1_000

/** Counts the requests, faults and assumptions of a run in all sandboxes of an emulator, deleted ones included. */
export class Tally {
  /** With the sandbox of their requests. */
  readonly findings: (Finding & { readonly sandbox: string })[] = []
  /** Number of findings beyond the first thousand, which are not kept. */
  omitted = 0
  readonly #operations = new Map<string | null, Map<Outcome, number>>()
  readonly #assumed = new Map<string, number>()
  readonly #faults = new Map<string, number>()

  /** Counts the events of a sandbox from now on, and its fault rules. */
  watch({ faults, log, store }: Sandbox): void {
    for (const { id } of faults.rules) add(this.#faults, id, 0)
    log.onEntry((entry) => this.#count(entry))
    store.onCommit(({ changes }) => {
      for (const change of changes) this.#follow(change)
    })
  }

  /** Judges the clients of a sandbox when it is closed: its log is then emptied. */
  judge(sandbox: Sandbox): void {
    sandbox.listeners.onClosed(() => {
      for (const finding of conductOf(sandbox, sandbox.log.entries()).data) {
        if (this.findings.length < MAX_FINDINGS) this.findings.push({ ...finding, sandbox: sandbox.name })
        else this.omitted++
      }
    })
  }

  /** In the order in which operations were first called; null for requests that match no operation. */
  get operations() {
    return [...this.#operations].map(([operation, outcomes]) => ({
      operation,
      total: [...outcomes.values()].reduce((sum, n) => sum + n, 0),
      outcomes: Object.fromEntries(outcomes) as Readonly<Partial<Record<Outcome, number>>>,
    }))
  }

  /** How often the fault rules with one id fired, in all sandboxes, in the order in which they were armed. */
  get faults() {
    return [...this.#faults].map(([id, fired]) => ({ id, fired }))
  }

  /** The number of responses that rely on each assumption that responses can name, the most used ones first. */
  get assumed(): readonly (readonly [id: string, responses: number])[] {
    return [...this.#assumed].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  }

  #count({ assumed, faults, status, ...entry }: LogEntry): void {
    const operation = entry.operation ?? null
    const outcomes = this.#operations.get(operation) ?? new Map<Outcome, number>()
    this.#operations.set(operation, outcomes)
    add(outcomes, outcomeOf(status))
    for (const id of assumed) add(this.#assumed, id)
    // Rules from magic values of a request are in no table.
    for (const { rule } of faults?.fired ?? []) if (rule.source === 'magic') add(this.#faults, rule.id)
  }

  #follow({ table, id, before, after }: Change): void {
    if (table === faultRules.name && after !== undefined) add(this.#faults, id, 0)
    if (table !== faultCounters.name || after === undefined) return
    const [{ rule, key, fired }, was] = [after as FaultCounter, before as FaultCounter | undefined]
    // The counter without a key counts all matches of its rule.
    if (key === null) add(this.#faults, rule, Math.max(0, fired - (was?.fired ?? 0)))
  }
}

function outcomeOf(status: number): Outcome {
  if (status === 0) return 'cut'
  return REQUEST_OUTCOMES.find((each) => each === `${Math.floor(status / 100)}xx`) ?? 'other'
}

function add<K>(counts: Map<K, number>, key: K, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}
