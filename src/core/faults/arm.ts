import type { Settings } from '../assumptions.ts'
import { refuse } from '../errors.ts'
import type { IssueList } from '../issue-list.ts'
import type { Issue } from '../json.ts'
import type { Scope } from '../operation.ts'
import { refuseUnknown } from '../refuse-unknown.ts'
import type { FaultRules, Service } from '../service.ts'
import { acceptRows, isAccepted } from '../state/intake.ts'
import type { Transaction } from '../state/transaction.ts'
import { unschedule } from '../time/scheduler.ts'
import { GATE_RELEASE, leaveGate } from '../webhooks/delivery.ts'
import { parsed, zodIssues } from '../zod-issues.ts'
import { expand } from './expand.ts'
import {
  type FaultDraft,
  type FaultRule,
  type FaultSource,
  faultCounters,
  faultRules,
  type StoredFaults,
} from './rule.ts'
import { draftSchema, storedSchemas } from './rule-schema.ts'
import { countersByRule } from './standing.ts'
import { ruleStatus } from './when.ts'

/** Maximum number of rules in one sandbox. */
export const MAX_RULES = 1_000

/** Validates a rule as a user has written it. Issues have JSON Pointers into it. */
export function checkDraft(
  raw: unknown,
  service: Service,
  settings: Settings,
): { readonly draft: FaultDraft } | { readonly issues: Issue[] } {
  const { data, error } = parsed(draftSchema(service, settings), raw)
  return error === undefined ? { draft: data as FaultDraft } : { issues: zodIssues(error, '') }
}

/**
 * Arms a rule from a checked draft: completes it with its preset, and with an id if it has none. A spent rule of the same
 * preset is replaced. Refuses with `conflict` an id that is taken, and a rule beyond {@link MAX_RULES}.
 * @param wall the real instant, as a timestamp
 */
export function arm(
  scope: Scope,
  service: Service,
  draft: FaultDraft,
  source: FaultSource,
  wall: string,
): FaultRule {
  const { tx, at } = scope
  const id = idFor(tx, draft, { now: Date.parse(at), wall: Date.parse(wall) })
  // Replaces a spent rule with this id; the new rule is the last in the order.
  disarm(scope, id)
  if (tx.in(faultRules).size >= MAX_RULES)
    refuse('conflict', {
      detail: `The sandbox has ${MAX_RULES} fault rules, which is the maximum.`,
      mitigation: 'Remove rules that are no longer needed: "workspace-emulator faults clear" removes all.',
    })
  const preset = draft.preset ?? null
  return tx
    .in(faultRules)
    .insert(ruleOf(draft, service, { id, source, preset, armed_at: at, armed_wall: wall }))
}

/** Replaces the behaviour of a rule with that of a draft without a preset. Its counters and `armed_at` stay. */
export function rewrite(
  { tx }: Pick<Scope, 'tx'>,
  service: Service,
  rule: FaultRule,
  draft: FaultDraft,
): FaultRule {
  return tx.in(faultRules).put(ruleOf(draft, service, rule))
}

/** Resets the counters and the age of a rule, as if it had just been armed. */
export function rearm({ tx, at }: Scope, rule: FaultRule, wall: string): FaultRule {
  forget(tx, rule.id)
  return tx.in(faultRules).put({ ...rule, armed_at: at, ...(rule.armed_wall && { armed_wall: wall }) })
}

/** The rule with an id. Refuses an unknown id with `not_found`, and names the nearest id. */
export function ruleNamed({ tx }: Pick<Scope, 'tx'>, id: string): FaultRule {
  const rules = tx.in(faultRules)
  const found = rules.get(id)
  if (found !== undefined) return found
  const known = [...rules].map((rule) => rule.id)
  return refuseUnknown('fault rule', id, known, '"workspace-emulator faults list" lists the armed rules.')
}

/** Removes a rule and its counters. Does nothing when there is no such rule. */
export function disarm(scope: Scope, id: string): void {
  const { tx } = scope
  const { match } = tx.in(faultRules).get(id) ?? {}
  unschedule(tx, `faults/${id}`, [GATE_RELEASE])
  if (typeof match === 'object' && match.webhook !== undefined) leaveGate(scope, id)
  tx.in(faultRules).delete(id)
  forget(tx, id)
}

function forget(tx: Transaction, id: string): void {
  const counters = tx.in(faultCounters)
  for (const counter of counters.where(countersByRule, id)) counters.delete(counter.id)
}

type Facts = Pick<FaultRule, 'id' | 'source' | 'preset' | 'armed_at' | 'armed_wall'>

// A copy, since a script may change its own object later and a row must never change. Fields without a value are left out.
function ruleOf(draft: FaultDraft, service: Service, facts: Facts): FaultRule {
  const { id, source, preset, armed_at } = facts
  const { match, ...behaviour } = expand(draft, service)
  if (match === undefined) throw new Error('a draft without a match has passed its check')
  const description = draft.description ?? null
  // Other rules do not depend on real time, so equal runs give equal states.
  const armed_wall = behaviour.when.until?.wall_ms === undefined ? undefined : facts.armed_wall
  const rule = { id, source, preset, description, match, ...behaviour, armed_at, armed_wall }
  return JSON.parse(JSON.stringify(rule)) as FaultRule
}

function idFor(tx: Transaction, { id, preset }: FaultDraft, time: Parameters<typeof ruleStatus>[2]): string {
  const rules = tx.in(faultRules)
  const isFree = (candidate: string): boolean => {
    const rule = rules.get(candidate)
    if (rule === undefined) return true
    const counts = tx.in(faultCounters).get(candidate) ?? { matched: 0, fired: 0 }
    return preset !== undefined && rule.preset === preset && ruleStatus(rule, counts, time) === 'spent'
  }
  const base = id ?? preset ?? 'fault'
  if (isFree(base)) return base
  if (id !== undefined) {
    refuse('conflict', {
      detail: `A fault rule "${id}" already exists.`,
      mitigation: `Use another id, or remove that rule first: "workspace-emulator faults clear ${id}".`,
    })
  }
  let n = 2
  while (!isFree(`${base}-${n}`)) n += 1
  return `${base}-${n}`
}

function accept(
  raw: { readonly faults: readonly unknown[]; readonly fault_counters: readonly unknown[] },
  service: Service,
  settings: Settings,
  issues: IssueList,
): StoredFaults {
  const { faults, fault_counters } = raw
  // Most sandboxes have none, and creating the schemas takes a while.
  if (faults.length === 0 && fault_counters.length === 0) return { faults: [], fault_counters: [] }
  const { rule, counter } = storedSchemas(service, settings)
  if (faults.length > MAX_RULES)
    issues.push({ pointer: '/faults', detail: `must have at most ${MAX_RULES} rules` })
  return {
    faults: acceptRows(rule, faults, '/faults', issues).filter(isAccepted),
    fault_counters: acceptRows(counter, fault_counters, '/fault_counters', issues).filter(isAccepted),
  }
}

/** The functions that state documents and scenarios use for rules. */
export const ruleFunctions: FaultRules = {
  draft: draftSchema,
  check: checkDraft,
  arm,
  remove: (scope, id) => disarm(scope, ruleNamed(scope, id).id),
  removeOf: (scope, wanted, ids) => {
    const own = scope.tx.in(faultRules).filter(({ source }) => source === wanted)
    for (const { id } of own) if (ids === undefined || ids.includes(id)) disarm(scope, id)
  },
  accept,
}
