import { limitClock, pathKey } from '../core-assumptions.ts'
import { refuse } from '../errors.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { mayCall } from './access.ts'
import type { Exchange } from './exchange.ts'
import type { Limit } from './rate-limiter.ts'

/** The rate window of a request. `now`: milliseconds, on the clock that the window uses. */
interface RequestWindow {
  readonly key: string
  readonly limit: Limit
  readonly now: number
}

/** The rate window that a request uses. */
export function requestWindow(sandbox: Sandbox, exchange: Exchange): RequestWindow {
  const { caller, ownTeamspace, call, settings } = exchange
  const { operation, path, pathPrefix } = call
  // A caller who may not act in a teamspace must not use up its windows either.
  const isTheirs = caller.teamspace_id === ownTeamspace || mayCall(sandbox, exchange)
  const teamspace = isTheirs ? caller.teamspace_id : ownTeamspace
  const own = path.slice(pathPrefix.length)
  const place = settings.get(pathKey) === 'template' ? operation.name : `${operation.method} ${own}`
  return {
    key: `${teamspace} ${place}`,
    limit: sandbox.limitOf(operation.name),
    now: sandbox.limiterNow(),
  }
}

/** Takes a place in the rate window of the request, or refuses it with 429. Specification: Limits / Rate limits. */
export function rateLimit(sandbox: Sandbox, exchange: Exchange): void {
  const { key, limit, now } = requestWindow(sandbox, exchange)
  const admission = sandbox.limiter.admit(key, limit, now, sandbox.enforcesLimits)
  exchange.window = { key, limit, admission }
  if (admission.admitted) return
  const frozen = sandbox.clock.rate === 0 && exchange.settings.get(limitClock) === 'virtual'
  refuse('rate_limit_exceeded', {
    detail: `The limit of ${exchange.call.operation.name} in this teamspace is ${limit.limit} per ${limit.window / 1000} s.`,
    mitigation: frozen
      ? `The virtual clock is frozen, so waiting does not help: advance it with POST /__emulator/clock/advance {"by":"${admission.retryAfter}s"}.`
      : `Wait ${admission.retryAfter} s, the value of Retry-After.`,
  })
}
