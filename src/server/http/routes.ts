import { type ErrorFormat, Refusal } from '../../core/errors.ts'
import type { AnyOperation } from '../../core/operation.ts'
import { operationOfVariants } from '../../core/request/variants.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { type Stub, stubs } from '../../core/scenarios/stub.ts'
import { stubbed, stubOperation } from '../../core/scenarios/stub-operation.ts'
import { type Match, RouteTable } from '../route-table.ts'

/** The result of matching a request of the API. */
type ApiMatch = Match<AnyOperation>

type ErrorFormatOf = (path: string) => ErrorFormat

/**
 * The match of a request: a stub, if one fits. A stub never replaces an operation that has a contract, and `--strict` turns all
 * stubs off. The most literal of several stubs counts; of equally literal ones, the one with the most conditions that fit, then
 * the one written last.
 * @param errorFormatOf the error format of a path below the base URL
 */
export function matchOrStub(
  { store, options }: Sandbox,
  method: string,
  path: string,
  found: ApiMatch,
  errorFormatOf: ErrorFormatOf,
): ApiMatch {
  if (found.kind === 'route' && found.route.contract) return found
  if (options.strict || store.rows(stubs.name).size === 0) return found
  const made = store.derived('stub routes', [stubs.name], () => {
    const rows = store.rows(stubs.name).values() as Iterable<Stub>
    return new Stubs([...rows].reverse(), errorFormatOf)
  })
  return made.match(method, path, found)
}

/** The stubs of one sandbox at one moment. */
class Stubs {
  /** Those of one method and path, by the operation in the table. */
  readonly #rows = new Map<AnyOperation, readonly Stub[]>()
  /** By method, so that a stub for another method has no effect. */
  readonly #routes: ReadonlyMap<string, RouteTable<AnyOperation>>
  /** Operations are kept, because sandboxes identify them by reference; by that of the service and that of the table. */
  readonly #over = new WeakMap<AnyOperation, WeakMap<AnyOperation, AnyOperation>>()

  constructor(rows: readonly Stub[], errorFormatOf: ErrorFormatOf) {
    const made = new Map<string, AnyOperation>()
    for (const row of rows) {
      const place = `${row.method} ${row.path}`
      const operation = made.get(place) ?? stubOperation(row, errorFormatOf(row.path))
      made.set(place, operation)
      this.#rows.set(operation, [...(this.#rows.get(operation) ?? []), row])
    }
    const operations = [...made.values()]
    const methods = [...new Set(operations.map(({ method }) => method))]
    this.#routes = new Map(
      methods.map((method) => [method, new RouteTable(operations.filter((each) => each.method === method))]),
    )
  }

  match(method: string, path: string, found: ApiMatch): ApiMatch {
    const stub = this.#routes.get(method === 'HEAD' ? 'GET' : method)?.match(method, path)
    if (stub?.kind !== 'route') return found
    const below = found.kind === 'route' ? found.route : undefined
    const over = this.#over.get(below ?? stub.route) ?? new WeakMap<AnyOperation, AnyOperation>()
    const route = over.get(stub.route) ?? this.#operationOver(below, stub.route)
    this.#over.set(below ?? stub.route, over.set(stub.route, route))
    return { kind: 'route', route, params: { ...(found.kind === 'route' && found.params), ...stub.params } }
  }

  #operationOver(below: AnyOperation | undefined, found: AnyOperation): AnyOperation {
    const variants = (this.#rows.get(found) ?? []).map((row) => ({
      match: row.match,
      operation: stubbed(below ?? found, row),
    }))
    return operationOfVariants(variants, below)
  }
}

type Missed = Exclude<ApiMatch, { kind: 'route' }>

/** The refusal of a request whose sandbox was removed while the request was read. */
export function removed(name: string): Refusal {
  return new Refusal('conflict', {
    detail: `The sandbox "${name}" was removed during the request.`,
    mitigation: 'Send it again; the sandbox is then created again.',
  })
}

/** `METHOD /path` of the routes closest to a request that fits no route. */
export function nearMisses(match: Missed, path: string): readonly string[] {
  if (match.kind === 'unknown') return match.nearest
  return match.kind === 'wrong_method' ? match.allow.map((method) => `${method} ${path}`) : []
}

/** The refusal of a request that fits no route. */
export function noRoute(match: Missed, method: string, path: string): Refusal {
  if (match.kind === 'malformed') {
    return new Refusal('bad_request', {
      detail: `The path "${path}" contains an invalid percent-encoding. Encode text as UTF-8, and a percent sign as %25.`,
    })
  }
  if (match.kind === 'wrong_method') {
    const allow = match.allow.join(', ')
    return new Refusal('method_not_allowed', {
      detail: `${path} does not accept ${method}; it accepts ${allow}.`,
      headers: [['Allow', allow]],
      assumed: [['U072']],
    })
  }
  const nearest = match.nearest.length === 0 ? '' : ` Nearest: ${match.nearest.join('; ')}.`
  return new Refusal('route_not_found', {
    detail: `There is no operation ${method} ${path}.${nearest}`,
    mitigation:
      '"workspace-emulator call GET /operations" lists every operation. An endpoint of your own can respond to requests outside the specification: "workspace-emulator endpoints add METHOD PATH", or a stub.',
  })
}

/** The parameters of a query. A repeated one has a list of all its values, so that none is chosen by accident. */
export function parseQuery(query: string): Readonly<Record<string, string | readonly string[]>> {
  if (query === '') return NO_QUERY
  const parameters: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = parameters[name]
    if (earlier === undefined) parameters[name] = value
    else if (typeof earlier === 'string') parameters[name] = [earlier, value]
    else earlier.push(value)
  }
  return parameters
}

export const NO_QUERY = Object.freeze(Object.create(null)) as Readonly<Record<string, string>>
