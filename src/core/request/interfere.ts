import type { Action } from '../faults/actions.ts'
import { Decision } from '../faults/decision.ts'
import type { RequestSubject } from '../faults/match.ts'
import type { FaultRule } from '../faults/rule.ts'
import { keptOf } from '../log/log-entry.ts'
import type { KeptBody } from '../log/request-log.ts'
import type { AnyOperation } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { formatInstant } from '../time/instant.ts'
import type { Call, CallBody } from './exchange.ts'

/** Whether any fault may be about a request: there are rules, or its values may stand for one. False costs next to nothing. */
export function mayInterfere(sandbox: Sandbox, { name }: AnyOperation): boolean {
  if (!sandbox.faults.isEmpty) return true
  return !sandbox.options.strict && sandbox.service.magic.some(({ operation }) => operation === name)
}

/** What the rules of a phase decide about a request, and, once its body is known, its own magic values. */
export function decide(sandbox: Sandbox, call: Call, phase: 'head' | 'call'): Decision | undefined {
  const subject = subjectOf(sandbox, call)
  const decision = sandbox.faults.decide(phase, subject, call.armed, call.decision)
  return phase === 'head' ? decision : withMagic(sandbox, call, decision)
}

function subjectOf(sandbox: Sandbox, call: Call): RequestSubject {
  const { operation, method, path, pathPrefix, query, headers, connection, params } = call
  return {
    kind: 'request',
    operation: operation.name === '' ? undefined : operation.name,
    method,
    path,
    pathPrefix,
    query,
    headers,
    body: bodyOf(call.body),
    caller: sandbox.authenticator.guess(headers.authorization, sandbox.settings),
    connection,
    resource: Object.values(params).at(-1) ?? null,
    kept: () => keptOf(call),
  }
}

const UNREAD: KeptBody = { kind: 'none' }

// All of it, however large: what the log leaves out may be what a rule is about.
function bodyOf(body: CallBody): KeptBody {
  return body.kind === 'json' ? { kind: 'json', value: body.value, bytes: body.bytes?.length } : UNREAD
}

function withMagic(sandbox: Sandbox, call: Call, decision: Decision | undefined): Decision | undefined {
  const { operation, body } = call
  if (sandbox.options.strict || body.kind !== 'json') return decision
  const asked = sandbox.service.magic
    .filter((each) => each.operation === operation.name)
    .flatMap(({ actionsOf }) => actionsOf?.(body.value) ?? [])
  if (asked.length === 0) return decision
  const fired = asked.map(({ value, actions }) => {
    const rule = magicRule(sandbox, operation.name, value, actions)
    return { rule, actions, step: undefined, n: 1, key: null }
  })
  const verdicts = fired.map(({ rule }) => ({ rule: rule.id, fired: true, description: MAGIC }))
  return new Decision([...(decision?.fired ?? []), ...fired], [...(decision?.verdicts ?? []), ...verdicts])
}

const MAGIC = 'The request itself asks for it with a reserved value.'

// The same object as every other rule, but of one request alone: it is not in the table.
function magicRule(
  sandbox: Sandbox,
  operation: string,
  value: string,
  actions: readonly Action[],
): FaultRule {
  return {
    id: `magic:${value}`,
    source: 'magic',
    preset: null,
    description: null,
    match: { operation },
    when: {},
    do: actions,
    actions: {},
    priority: 0,
    then: 'continue',
    times: null,
    ttl: null,
    armed_at: formatInstant(sandbox.clock.now),
    armed_wall: formatInstant(sandbox.options.host()),
  }
}
