import { transferableAbortController } from 'node:util'
import { chanceOf } from '../random.ts'
import type { Store } from '../state/store.ts'
import { formatInstant } from '../time/instant.ts'
import { CountedKeys } from './counted-keys.ts'
import { Decision, type Fired, type Verdict } from './decision.ts'
import { counterKey, mismatch, type Subject } from './match.ts'
import { type Action, drawnActions, type Phase, type PrimitiveMap } from './primitive.ts'
import { type FaultCounter, type FaultRule, faultCounters, faultRules, phaseOf } from './rule.ts'
import { countedBy, retired, timing } from './when.ts'

/** The inputs of a decision in addition to rules and counters. */
interface BookFacts {
  /** Virtual milliseconds. */
  readonly now: () => number
  /** Real milliseconds. */
  readonly wall: () => number
  readonly seed: () => number
}

/** Maximum number of keys that one rule counts by. A new key then replaces the oldest: callers can send any number of keys. */
const MAX_KEYS = 10_000

/** Maximum number of rules that did not fire in the verdicts of one phase. */
const MAX_MISSED = 100

/**
 * Decides which fault rules of one sandbox fire. Rules and counters are tables of its state. Counters are written in a
 * separate transaction, so that a refused request is counted, too.
 */
export class FaultBook {
  readonly #store: Store
  readonly #primitives: PrimitiveMap
  readonly #facts: BookFacts
  readonly #keys: CountedKeys
  #sorted: Sorted | undefined
  /** Created when a connection is held: most sandboxes never hold one. */
  #release: AbortController | undefined
  readonly #holds = new Map<string, Hold>()
  /** Number of connections that are held open now, until their client leaves. */
  held = 0

  constructor(store: Store, primitives: PrimitiveMap, facts: BookFacts) {
    this.#store = store
    this.#primitives = primitives
    this.#facts = facts
    this.#keys = new CountedKeys(store)
    store.onCommit(({ changes }) => {
      for (const { table, id, after } of changes)
        if (table === faultRules.name && after === undefined) this.#letGo(({ rules }) => rules.includes(id))
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

  /** Like {@link released}, but also aborted when one of the rules that hold the connection is removed. */
  releasedFor(decision: Decision): AbortSignal {
    const isHeldBy = (actions: readonly Action[]) =>
      decision.uses(actions).some(({ primitive, parameters }) => primitive.holds?.(parameters) === true)
    // Rules from reserved values of a request are in no table and cannot be removed.
    const rules = decision.fired
      .filter(
        ({ rule, actions }) => isHeldBy(actions) && this.#store.get(faultRules.name, rule.id) !== undefined,
      )
      .map(({ rule }) => rule.id)
    if (rules.length === 0) return this.released
    const name = JSON.stringify(rules)
    const known = this.#holds.get(name) ?? { rules, abort: transferableAbortController() }
    this.#holds.set(name, known)
    return known.abort.signal
  }

  /** Releases every connection that is held. */
  release(): void {
    this.#release?.abort()
    this.#release = undefined
    this.#letGo(() => true)
  }

  #letGo(concerns: (hold: Hold) => boolean): void {
    for (const [name, hold] of [...this.#holds]) {
      if (!concerns(hold)) continue
      hold.abort.abort()
      this.#holds.delete(name)
    }
  }

  /**
   * Decides which rules of a phase fire, and counts their matches.
   * @param armed ids of the header rules that the request has named; the others do not apply to it
   * @param earlier the decision of the earlier phases
   */
  decide(
    phase: Phase,
    subject: Subject,
    armed: readonly string[] = [],
    earlier?: Decision,
  ): Decision | undefined {
    const isAsked = ({ source, id }: FaultRule) => source !== 'header' || armed.includes(id)
    const rules = this.#rulesOf(phase).filter(isAsked)
    const others = phase === 'call' ? this.#othersThan(isAsked) : []
    if (rules.length + others.length === 0) return earlier
    const counting = new Counting(this.#store, this.#keys, formatInstant(this.#facts.now()))
    const fired: Fired[] = [...(earlier?.fired ?? [])]
    const verdicts: Verdict[] = [...(earlier?.verdicts ?? [])]
    let last = fired.find(({ rule }) => rule.then === 'stop')?.rule
    let missed = 0
    for (const rule of rules) {
      const judged: Judged =
        last === undefined ? this.#judge(rule, subject, counting) : { description: stopped(last) }
      const { fired: hit, description, counter } = judged
      if (hit === undefined) missed += 1
      if (hit !== undefined) verdicts.push({ rule: rule.id, fired: true, description })
      else if (missed <= MAX_MISSED)
        verdicts.push({ rule: rule.id, fired: false, description, about: rule, counter })
      if (hit === undefined) continue
      fired.push(hit)
      if (rule.then === 'stop') last = rule
    }
    for (const verdict of others.slice(0, Math.max(0, MAX_MISSED - missed))) verdicts.push(verdict)
    counting.commit()
    return new Decision(fired, verdicts, this.#primitives)
  }

  /** The verdicts on rules that are not evaluated: those about connections or webhooks, and header rules of other requests. */
  #othersThan(isAsked: (rule: FaultRule) => boolean): Verdict[] {
    const not = (description: string) => (rule: FaultRule) => ({
      rule: rule.id,
      fired: false,
      description,
      about: rule,
    })
    const named = [...this.#rulesOf('head'), ...this.#rulesOf('call')]
    return [
      ...this.#rulesOf('accept').map(not('It applies to a connection before its first request.')),
      ...this.#rulesOf('webhook').map(not('It applies to webhooks, not to requests.')),
      ...named
        .filter((rule) => !isAsked(rule))
        .map(not('It applies only to requests that name it in the header X-Emulator-Fault.')),
    ]
  }

  #judge(rule: FaultRule, subject: Subject, counting: Counting): Judged {
    const now = this.#facts.now()
    const over = retired(rule, counting.firedBy(rule), now)
    if (over !== undefined) return { description: over }
    const missed = mismatch(rule.match, subject)
    if (missed !== undefined) return { description: missed }
    const key = counterKey(countedBy(rule.when), subject)
    const n = counting.matched(rule, key)
    const { wall, seed } = this.#facts
    const { fires, step, description } = timing({ rule, n, key, now, wall: wall(), seed: seed() })
    if (!fires) return { description, counter: { n, key } }
    counting.fired(rule, key)
    const written = step === undefined ? rule.do : namedActions(rule, step)
    const draw = () => chanceOf(seed(), 'fault action', rule.id, key ?? '', n)
    const actions = drawnActions(written, this.#primitives, draw)
    return { description, fired: { rule, actions, step, n, key } }
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

/** Connections that the same rules hold. */
interface Hold {
  readonly rules: readonly string[]
  readonly abort: AbortController
}

/** The result for one rule; `fired` is present when it fired. */
interface Judged {
  readonly description: string
  readonly fired?: Fired
  readonly counter?: Verdict['counter']
}

// Names come from users and may be those that every object has.
function namedActions({ actions }: FaultRule, name: string): readonly Action[] {
  return (Object.hasOwn(actions, name) ? actions[name] : undefined) ?? []
}

function stopped({ id }: FaultRule): string {
  return `The rule ${id} fired first and stops the evaluation of later rules.`
}

/** The changed counters of one decision, written in one transaction. */
class Counting {
  readonly #store: Store
  readonly #keys: CountedKeys
  readonly #at: string
  readonly #changed = new Map<string, FaultCounter>()

  constructor(store: Store, keys: CountedKeys, at: string) {
    this.#store = store
    this.#keys = keys
    this.#at = at
  }

  firedBy({ id }: FaultRule): number {
    return this.#read(id)?.fired ?? 0
  }

  /** Counts one match. @returns its number under the key */
  matched({ id }: FaultRule, key: string | null): number {
    const total = this.#add(id, null, 'matched')
    return key === null ? total : this.#add(id, key, 'matched')
  }

  fired({ id }: FaultRule, key: string | null): void {
    this.#add(id, null, 'fired')
    if (key !== null) this.#add(id, key, 'fired')
  }

  commit(): void {
    if (this.#changed.size === 0) return
    this.#store.transaction(this.#at, (tx) => {
      for (const counter of this.#changed.values()) {
        if (counter.key !== null && counter.matched === 1) this.#makeRoom(counter.rule, tx)
        tx.put(faultCounters.name, counter)
      }
    })
  }

  #makeRoom(rule: string, tx: { delete(table: string, id: string): void }): void {
    const keys = this.#keys.of(rule)
    const [oldest] = keys
    if (keys.size >= MAX_KEYS && oldest !== undefined) tx.delete(faultCounters.name, oldest)
  }

  #add(rule: string, key: string | null, what: 'matched' | 'fired'): number {
    const id = key === null ? rule : `${rule} ${key}`
    const before = this.#read(id) ?? { id, rule, key, matched: 0, fired: 0, last_at: '' }
    const after = { ...before, [what]: before[what] + 1, last_at: this.#at }
    this.#changed.set(id, after)
    return after[what]
  }

  #read(id: string): FaultCounter | undefined {
    return this.#changed.get(id) ?? (this.#store.get(faultCounters.name, id) as FaultCounter | undefined)
  }
}
