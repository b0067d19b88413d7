import { transferableAbortController } from 'node:util'
import { ownValue } from '../json.ts'
import { chanceOf } from '../random.ts'
import type { Store } from '../state/store.ts'
import type { Transaction } from '../state/transaction.ts'
import { formatInstant } from '../time/instant.ts'
import { Decision, type RuleDecision } from './decision.ts'
import { Gates } from './gates.ts'
import { counterKey, mismatch, type Subject } from './match.ts'
import { type Action, drawnActions, type Phase, type PrimitiveMap } from './primitive.ts'
import { type FaultRule, faultCounters, faultRules, phaseOf } from './rule.ts'
import { countersByRule } from './standing.ts'
import { countedBy, retired, timing } from './when.ts'

/** The inputs of a decision in addition to rules and counters. */
interface BookFacts {
  /** Virtual milliseconds. */
  readonly now: () => number
  /** Real milliseconds. */
  readonly wall: () => number
  readonly seed: () => number
  /** Called with requests at gates that were aborted, as the end of a sentence. */
  readonly warn?: (message: string) => void
}

/** Maximum number of keys that one rule counts by. A new key then replaces the oldest: callers can send any number of keys. */
const MAX_KEYS = 10_000

/** Maximum number of rules that did not fire in the decisions of one phase. */
const MAX_MISSED = 100

/**
 * Decides which fault rules of one sandbox fire. Rules and counters are tables of its state. Counters are written in a
 * separate transaction, so that a refused request is counted, too.
 */
export class FaultBook {
  readonly #store: Store
  readonly #primitives: PrimitiveMap
  readonly #facts: BookFacts
  readonly gates: Gates
  #sorted: Sorted | undefined
  /** Created when a connection is held: most sandboxes never hold one. */
  #release: AbortController | undefined
  /** Aborted when a rule that holds connections is removed. */
  readonly #removals = new Map<string, AbortController>()
  /** Number of connections that are held open now, until their client leaves. */
  held = 0

  constructor(store: Store, primitives: PrimitiveMap, facts: BookFacts) {
    this.#store = store
    this.#primitives = primitives
    this.#facts = facts
    this.gates = new Gates(store, (message) => facts.warn?.(message))
    store.onCommit(({ changes }) => {
      for (const { table, id, after } of changes) {
        if (table !== faultRules.name || after !== undefined) continue
        this.#removals.get(id)?.abort()
        this.#removals.delete(id)
      }
    })
  }

  /** In the order of evaluation: by priority, then in the order in which they were armed. */
  get rules(): readonly FaultRule[] {
    return this.#inOrder().all
  }

  get isEmpty(): boolean {
    return this.#store.rows(faultRules.name).size === 0
  }

  /** Aborted by {@link release}: every connection that a fault holds open is released. */
  get released(): AbortSignal {
    // Node's own, not the one of a page that a test runner imitates: `setMaxListeners` accepts no other.
    this.#release ??= transferableAbortController()
    return this.#release.signal
  }

  /** {@link released}, and one signal for each rule that holds the connection, aborted when that rule is removed. */
  releasesOf(decision: Decision): readonly AbortSignal[] {
    const isHeldBy = (actions: readonly Action[]) =>
      decision.uses(actions).some(({ primitive, parameters }) => primitive.holds?.(parameters) === true)
    const removals = decision.fired.flatMap(({ rule: { id }, actions }) => {
      // Rules from reserved values of a request are in no table and cannot be removed.
      if (!isHeldBy(actions) || this.#store.get(faultRules.name, id) === undefined) return []
      const removal = this.#removals.get(id) ?? transferableAbortController()
      this.#removals.set(id, removal)
      return [removal.signal]
    })
    return [this.released, ...removals]
  }

  /** Releases every connection that is held. */
  release(): void {
    this.#release?.abort()
    this.#release = undefined
  }

  /**
   * Decides which rules of a phase fire, and counts their matches.
   * @param armed ids of the header rules that the request has named; the others do not apply to it
   * @param earlier the decision of the earlier phases
   */
  decide(phase: Phase, subject: Subject, armed: readonly string[] = [], earlier?: Decision) {
    const isAsked = ({ source, id }: FaultRule) => source !== 'header' || armed.includes(id)
    const rules = this.#rulesOf(phase).filter(isAsked)
    const others = phase === 'call' ? this.#notEvaluated(isAsked) : []
    if (rules.length + others.length === 0) return earlier
    const decisions = [...(earlier?.decisions ?? [])]
    let last = earlier?.fired.find(({ rule }) => rule.then === 'stop')?.rule
    let missed = 0
    this.#store.transaction(formatInstant(this.#facts.now()), (tx) => {
      for (const rule of rules) {
        const decision = this.#decideRule(rule, subject, tx, last)
        const hasFired = decision.fired !== undefined
        if (!hasFired) missed += 1
        if (hasFired || missed <= MAX_MISSED) decisions.push(decision)
        if (hasFired && rule.then === 'stop') last = rule
      }
    })
    for (const decision of others.slice(0, Math.max(0, MAX_MISSED - missed))) decisions.push(decision)
    return new Decision(decisions, this.#primitives)
  }

  /** The decisions on rules that are not evaluated: those about connections or webhooks, and header rules of other requests. */
  #notEvaluated(isAsked: (rule: FaultRule) => boolean): RuleDecision[] {
    const not = (description: string) => (rule: FaultRule) => ({ rule, description })
    const named = [...this.#rulesOf('head'), ...this.#rulesOf('call')]
    return [
      ...this.#rulesOf('accept').map(not('It applies to a connection before its first request.')),
      ...this.#rulesOf('webhook').map(not('It applies to webhooks, not to requests.')),
      ...named
        .filter((rule) => !isAsked(rule))
        .map(not('It applies only to requests that name it in the header X-Emulator-Fault.')),
    ]
  }

  /** @param last the rule that has fired and stops the evaluation */
  #decideRule(rule: FaultRule, subject: Subject, tx: Transaction, last?: FaultRule): RuleDecision {
    if (last !== undefined)
      return { rule, description: `The rule ${last.id} fired first and stops the evaluation of later rules.` }
    const now = this.#facts.now()
    const over = retired(rule, tx.in(faultCounters).get(rule.id)?.fired ?? 0, now)
    if (over !== undefined) return { rule, description: over }
    const missed = mismatch(rule.match, subject)
    if (missed !== undefined) return { rule, description: missed }
    const key = counterKey(countedBy(rule.when), subject)
    const n = count(tx, rule, key, 'matched', now)
    const { wall, seed } = this.#facts
    const { fires, step, description } = timing({ rule, n, key, now, wall: wall(), seed: seed() })
    if (!fires) return { rule, description, counter: { n, key } }
    count(tx, rule, key, 'fired', now)
    const written = step === undefined ? rule.do : (ownValue(rule.actions, step) ?? [])
    const draw = () => chanceOf(seed(), 'fault action', rule.id, key ?? '', n)
    const actions = drawnActions(written, this.#primitives, draw)
    return { rule, description, fired: { rule, actions, step, n, key } }
  }

  #rulesOf(phase: Phase): readonly FaultRule[] {
    return this.#inOrder().byPhase.get(phase) ?? []
  }

  // Sorted once per change of the table: a stable sort keeps the order in which rules were armed.
  #inOrder(): Sorted {
    const version = this.#store.version(faultRules.name)
    if (this.#sorted?.version === version) return this.#sorted
    const all = [...this.#store.rows(faultRules.name).values()] as FaultRule[]
    all.sort((a, b) => b.priority - a.priority)
    const byPhase = new Map<Phase, FaultRule[]>()
    for (const rule of all) {
      const phase = phaseOf(rule, this.#primitives)
      byPhase.set(phase, [...(byPhase.get(phase) ?? []), rule])
    }
    this.#sorted = { version, all, byPhase }
    return this.#sorted
  }
}

interface Sorted {
  /** Version of the table when it was sorted. */
  readonly version: number
  readonly all: readonly FaultRule[]
  readonly byPhase: ReadonlyMap<Phase, readonly FaultRule[]>
}

/** Counts one match or fire of a rule, in total and under its key. @returns the number under the key */
function count(
  tx: Transaction,
  { id: rule }: FaultRule,
  key: string | null,
  what: 'matched' | 'fired',
  now: number,
): number {
  const counters = tx.in(faultCounters)
  const add = (id: string, key: string | null): number => {
    const last_at = formatInstant(now)
    const before = counters.get(id) ?? { id, rule, key, matched: 0, fired: 0, last_at }
    if (key !== null && before.matched === 0) makeRoom(tx, rule)
    // A state document can begin with the last number, and must still be accepted after another match.
    const next = Math.min(before[what] + 1, Number.MAX_SAFE_INTEGER)
    return counters.put({ ...before, [what]: next, last_at })[what]
  }
  const total = add(rule, null)
  return key === null ? total : add(`${rule} ${key}`, key)
}

// The total of the rule is one of its counters.
function makeRoom(tx: Transaction, rule: string): void {
  const counters = tx.in(faultCounters)
  if (counters.count(countersByRule, rule) <= MAX_KEYS) return
  for (const { id, key } of counters.having(countersByRule, rule)) {
    if (key === null) continue
    counters.delete(id)
    return
  }
}
