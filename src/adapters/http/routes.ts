import { distance } from 'fastest-levenshtein'
import { type ErrorFormat, Refusal } from '../../core/errors.ts'
import type { AnyOperation } from '../../core/operation.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { type Stub, stubs } from '../../core/scenarios/stub.ts'
import { stubbed, stubOperation } from '../../core/scenarios/stub-operation.ts'

/** What a method and a path lead to. */
export type Match =
  | {
      readonly kind: 'operation'
      readonly operation: AnyOperation
      readonly params: Readonly<Record<string, string>>
    }
  | { readonly kind: 'wrong_method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown'; readonly nearest: readonly string[] }
  | { readonly kind: 'malformed' }

interface Route {
  readonly operation: AnyOperation
  readonly segments: readonly string[]
}

/** The path templates of all operations. Paths are exact: letter case counts, and so does a trailing slash (U072). */
export class RouteTable {
  readonly #byLength = new Map<number, Route[]>()
  readonly #routes: Route[] = []

  constructor(operations: Iterable<AnyOperation>) {
    for (const operation of operations) {
      const route = { operation, segments: operation.path.split('/') }
      this.#routes.push(route)
      const same = this.#byLength.get(route.segments.length) ?? []
      this.#byLength.set(route.segments.length, [...same, route].sort(literalsFirst))
    }
  }

  /** Finds the operation for a path below the base URL, still percent-encoded. HEAD finds what GET finds. */
  match(method: string, path: string): Match {
    const segments = path.split('/')
    const wanted = method === 'HEAD' ? 'GET' : method
    const allow: string[] = []
    for (const { operation, segments: template } of this.#byLength.get(segments.length) ?? []) {
      if (!fits(template, segments)) continue
      if (operation.method !== wanted) {
        allow.push(operation.method)
        continue
      }
      const params = decode(template, segments)
      return params === undefined ? { kind: 'malformed' } : { kind: 'operation', operation, params }
    }
    if (allow.length > 0)
      return { kind: 'wrong_method', allow: allow.includes('GET') ? [...allow, 'HEAD'] : allow }
    return { kind: 'unknown', nearest: this.#nearest(wanted, segments) }
  }

  /** The form of errors that belongs to a path, known or not: that of the operations that share its first segment. */
  errorFormatOf(path: string): ErrorFormat {
    const first = path.split('/')[1]
    return this.#routes.find(({ segments }) => segments[1] === first)?.operation.errorFormat ?? 'standard'
  }

  #nearest(method: string, segments: readonly string[]): string[] {
    const scored = this.#routes.map(({ operation, segments: template }) => ({
      name: `${operation.method} ${operation.path}`,
      score: likeness(template, segments) - (operation.method === method ? 0 : 0.1),
    }))
    const near = scored.filter(({ score }) => score > 0.5).sort((a, b) => b.score - a.score)
    return near.slice(0, 3).map(({ name }) => name)
  }
}

function isParameter(segment: string | undefined): boolean {
  return segment?.startsWith('{') === true
}

function literalsFirst(a: Route, b: Route): number {
  return a.segments.filter(isParameter).length - b.segments.filter(isParameter).length
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return template.every(
    (part, index) => part === segments[index] || (isParameter(part) && segments[index] !== ''),
  )
}

function decode(
  template: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (const [index, part] of template.entries()) {
    if (!isParameter(part)) continue
    const value = decoded(segments[index] ?? '')
    if (value === undefined) return undefined
    params[part.slice(1, -1)] = value
  }
  return params
}

function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

// One point for each segment in common, less for one that is merely alike, less what one path has more than the other.
function likeness(template: readonly string[], segments: readonly string[]): number {
  const given = segments.filter((segment) => segment !== '').map((segment) => segment.toLowerCase())
  const known = template.filter((part) => part !== '')
  const literals = known.filter((part) => !isParameter(part))
  const points = literals.map((part) => Math.max(0, ...given.map((segment) => alike(part, segment))))
  return points.reduce((sum, each) => sum + each, 0) - Math.abs(known.length - given.length) * 0.25
}

function alike(a: string, b: string): number {
  return Math.max(0, 1 - (2 * distance(a, b)) / Math.max(a.length, b.length))
}

type ErrorFormatOf = (path: string) => ErrorFormat

/** The routes that the stubs of sandboxes make. A table is made anew when the stubs of its sandbox have changed. */
export class StubRoutes {
  readonly #dialectOf: ErrorFormatOf
  readonly #made = new WeakMap<Sandbox, { readonly version: number; readonly stubs: Stubs }>()

  /** @param dialectOf the form of errors that belongs to a path below the base URL */
  constructor(errorFormatOf: ErrorFormatOf) {
    this.#dialectOf = errorFormatOf
  }

  /**
   * What a request leads to, a stub where one fits. An operation that has a contract is never answered by one, and under
   * `--strict` nothing is. Of stubs that fit the most literal one answers, and of those the one written last.
   */
  match(sandbox: Sandbox, method: string, path: string, found: Match): Match {
    if (found.kind === 'operation' && found.operation.contract) return found
    const { store, options } = sandbox
    if (options.strict || store.rows(stubs.name).size === 0) return found
    return this.#stubsOf(sandbox).match(method, path, found)
  }

  #stubsOf(sandbox: Sandbox): Stubs {
    const version = sandbox.store.version(stubs.name)
    const kept = this.#made.get(sandbox)
    if (kept?.version === version) return kept.stubs
    const rows = [...(sandbox.store.rows(stubs.name).values() as Iterable<Stub>)].reverse()
    const made = new Stubs(rows, this.#dialectOf)
    this.#made.set(sandbox, { version, stubs: made })
    return made
  }
}

/** The stubs of one sandbox at one moment. */
class Stubs {
  readonly #rows: ReadonlyMap<string, Stub>
  readonly #routes: RouteTable
  /** Operations are kept, because sandboxes know them by identity. */
  readonly #over = new Map<string, Extract<Match, { kind: 'operation' }>['operation']>()

  constructor(rows: readonly Stub[], errorFormatOf: ErrorFormatOf) {
    this.#rows = new Map(rows.map((row) => [row.id, row]))
    this.#routes = new RouteTable(rows.map((row) => stubOperation(row, errorFormatOf(row.path))))
  }

  match(method: string, path: string, found: Match): Match {
    const stub = this.#routes.match(method, path)
    if (stub.kind !== 'operation') return found
    if (found.kind !== 'operation') return stub
    const { stub: id = '' } = stub.operation
    const key = `${found.operation.name} ${id}`
    const operation = this.#over.get(key) ?? stubbed(found.operation, this.#rows.get(id) as Stub) // it has matched
    this.#over.set(key, operation)
    return { kind: 'operation', operation, params: { ...found.params, ...stub.params } }
  }
}

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

/** Splits a request target into its path and its query, both still percent-encoded. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

/** The parameters of a query. A repeated one has all its values, so that none is taken by accident. */
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

const NO_QUERY = Object.freeze(Object.create(null)) as Readonly<Record<string, string>>
