import { Refusal } from '../../kernel/errors.ts'
import type { Match } from './routes.ts'

type Missed = Exclude<Match, { kind: 'operation' }>

/** The refusal of a request whose sandbox has gone while it was read. */
export function removed(name: string): Refusal {
  return new Refusal('conflict', {
    detail: `The sandbox "${name}" was removed while the request was coming in.`,
    mitigation: 'Send it again; the sandbox is then made anew.',
  })
}

/** `METHOD /path` of what comes nearest to a request that fits no route. */
export function nearMisses(match: Missed, path: string): readonly string[] {
  if (match.kind === 'unknown') return match.nearest
  return match.kind === 'wrong_method' ? match.allow.map((method) => `${method} ${path}`) : []
}

/** The refusal of a request that fits no route. */
export function noRoute(match: Missed, method: string, path: string): Refusal {
  if (match.kind === 'malformed') {
    return new Refusal('bad_request', {
      detail: `The path "${path}" has a percent sign that encodes nothing in UTF-8.`,
    })
  }
  if (match.kind === 'wrong_method') {
    const allow = match.allow.join(', ')
    return new Refusal('method_not_allowed', {
      detail: `${path} does not take ${method}; it takes ${allow}.`,
      headers: [['Allow', allow]],
      assumed: ['U072'],
    })
  }
  const nearest = match.nearest.length === 0 ? '' : ` Nearest: ${match.nearest.join('; ')}.`
  return new Refusal('route_not_found', {
    detail: `There is no operation ${method} ${path}.${nearest}`,
    mitigation:
      'GET /__emulator/operations lists every operation. What the specification does not show can be answered by a stub: POST /__emulator/stubs.',
  })
}
