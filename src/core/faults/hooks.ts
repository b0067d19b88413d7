import { keptOf, maskedWordsOf } from '../log/log-entry.ts'
import type { KeptBody } from '../log/request-log.ts'
import type { Call, Hooks } from '../request/exchange.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { formatInstant } from '../time/instant.ts'
import { Decision } from './decision.ts'
import { FaultedRequest, firedEffects } from './faulted-request.ts'
import type { RequestSubject } from './match.ts'
import type { FaultRule } from './rule.ts'

/** Lets the fault rules of a sandbox act on its requests and webhooks. */
export function faultHooks(sandbox: Sandbox): Hooks {
  const { faults, options, service } = sandbox
  // Operations whose requests may contain reserved values, which act without a rule.
  const magic = new Set(options.strict ? [] : service.magic.map(({ operation }) => operation))
  return {
    begin: (call) => {
      if (faults.isEmpty && (!magic.has(call.operation.name) || magicOf(sandbox, call).length === 0))
        return undefined
      const decision = decide(sandbox, call, 'call', decide(sandbox, call, 'head'))
      return decision && new FaultedRequest(sandbox, decision)
    },
    treatmentOf: (type, url, resource) => {
      if (faults.isEmpty) return undefined
      const decision = faults.decide('webhook', { kind: 'webhook', type, url, resource })
      if (decision === undefined || decision.fired.length === 0) return undefined
      return firedEffects(sandbox, decision, 'webhook')[0]?.act(decision)
    },
  }
}

/**
 * Decides which rules of a phase fire on a request. In the phase `call`, the reserved values of its body act as well.
 * @param earlier the decision of the earlier phase
 */
export function decide(sandbox: Sandbox, call: Call, phase: 'head' | 'call', earlier?: Decision) {
  const decision = sandbox.faults.decide(phase, subjectOf(sandbox, call), call.armed, earlier)
  return phase === 'head' ? decision : withMagic(sandbox, call, decision)
}

function subjectOf(sandbox: Sandbox, call: Call): RequestSubject {
  const { operation, method, path, pathPrefix, query, headers, body, evidence, params } = call
  return {
    kind: 'request',
    operation: operation.name === '' ? undefined : operation.name,
    method,
    path,
    pathPrefix,
    query,
    headers,
    // The whole body, however large: a rule may match a part that the log leaves out.
    body: body.kind === 'json' ? { kind: 'json', value: body.value, bytes: body.bytes?.length } : UNREAD,
    caller: sandbox.authenticator.guessCall(call, sandbox.settings),
    connection: evidence && { id: evidence.connection.id, index: evidence.requests_before + 1 },
    resource: Object.values(params).at(-1) ?? null,
    kept: () => keptOf(call, maskedWordsOf(call, sandbox, sandbox.settings)),
  }
}

const UNREAD: KeptBody = { kind: 'none' }

/** The actions that reserved values in the body of a call request. */
function magicOf({ options, service }: Sandbox, { operation, body }: Call) {
  if (options.strict || body.kind !== 'json') return []
  return service.magic
    .filter((each) => each.operation === operation.name)
    .flatMap(({ actionsOf }) => actionsOf?.(body.value) ?? [])
}

/** A decision about a request, together with what its reserved values ask for. */
function withMagic(sandbox: Sandbox, call: Call, decision: Decision | undefined): Decision | undefined {
  const asked = magicOf(sandbox, call)
  if (asked.length === 0) return decision
  const decisions = asked.map(({ value, actions }) => {
    // It has the form of every other rule, but exists for one request only and is not in the table.
    const rule: FaultRule = {
      id: `magic:${value}`,
      source: 'magic',
      preset: null,
      description: null,
      match: { operation: call.operation.name },
      when: {},
      do: actions,
      actions: {},
      priority: 0,
      then: 'continue',
      times: null,
      ttl: null,
      armed_at: formatInstant(sandbox.clock.now),
    }
    return { rule, description: MAGIC, fired: { rule, actions, step: undefined, n: 1, key: null } }
  })
  return new Decision([...(decision?.decisions ?? []), ...decisions], sandbox.service.primitives)
}

const MAGIC = 'The request itself triggers it with a reserved value.'
