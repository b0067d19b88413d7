import { distance } from 'fastest-levenshtein'
import type { Method } from '../core/operation.ts'

/** A route of any kind: an operation of the API, a stub, or a route of the control interface. */
export interface AnyRoute {
  readonly method: Method
  /** Path template: `/pages`, `/skills/{skill_id}/promote`. */
  readonly path: string
}

/** The result of matching a method and a path. */
export type Match<R extends AnyRoute> =
  | { readonly kind: 'route'; readonly route: R; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong_method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown'; readonly nearest: readonly string[] }
  | { readonly kind: 'malformed' }

interface Entry<R> {
  readonly route: R
  readonly segments: readonly string[]
  readonly parameters: number
}

/**
 * The routes of an interface. Paths are case-sensitive, and a trailing slash counts (U072). If several templates match a
 * path, the one with the most literal segments wins, regardless of the method.
 */
export class RouteTable<R extends AnyRoute> {
  readonly #byLength = new Map<number, Entry<R>[]>()
  readonly #entries: Entry<R>[] = []

  constructor(routes: Iterable<R>) {
    for (const route of routes) {
      const segments = route.path.split('/')
      const entry = { route, segments, parameters: segments.filter(isParameter).length }
      this.#entries.push(entry)
      const same = this.#byLength.get(segments.length) ?? []
      this.#byLength.set(
        segments.length,
        [...same, entry].sort((a, b) => a.parameters - b.parameters),
      )
    }
  }

  /** Finds the route for a percent-encoded path. HEAD matches the routes of GET. */
  match(method: string, path: string): Match<R> {
    const segments = path.split('/')
    const wanted = method === 'HEAD' ? 'GET' : method
    const allow: string[] = []
    let parameters = 0
    for (const entry of this.#byLength.get(segments.length) ?? []) {
      if (allow.length > 0 && entry.parameters > parameters) break
      if (!fits(entry.segments, segments)) continue
      if (entry.route.method !== wanted) {
        allow.push(entry.route.method)
        parameters = entry.parameters
        continue
      }
      const params = decode(entry.segments, segments)
      return params === undefined ? { kind: 'malformed' } : { kind: 'route', route: entry.route, params }
    }
    if (allow.length > 0)
      return { kind: 'wrong_method', allow: allow.includes('GET') ? [...allow, 'HEAD'] : allow }
    return { kind: 'unknown', nearest: this.#nearest(wanted, segments) }
  }

  get routes(): readonly R[] {
    return this.#entries.map(({ route }) => route)
  }

  /** The first route that has the same first segment as a path. */
  relatedTo(path: string): R | undefined {
    const first = path.split('/')[1]
    return this.#entries.find(({ segments }) => segments[1] === first)?.route
  }

  #nearest(method: string, segments: readonly string[]): string[] {
    const scored = this.#entries.map(({ route, segments: template }) => ({
      name: `${route.method} ${route.path}`,
      score: likeness(template, segments) - (route.method === method ? 0 : 0.1),
    }))
    const near = scored.filter(({ score }) => score > 0.5).sort((a, b) => b.score - a.score)
    return near.slice(0, 3).map(({ name }) => name)
  }
}

function isParameter(segment: string | undefined): boolean {
  return segment?.startsWith('{') === true
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  for (let index = 0; index < template.length; index++) {
    const part = template[index]
    if (part !== segments[index] && (!isParameter(part) || segments[index] === '')) return false
  }
  return true
}

function decode(
  template: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  for (let index = 1; index < template.length; index++) {
    const part = template[index] as string // the index is in range
    if (!isParameter(part)) continue
    const value = decoded(segments[index] ?? '')
    if (value === undefined) return undefined
    params[part.slice(1, -1)] = value
  }
  return params
}

/** A segment without percent-encoding; undefined when a `%` in it begins no character. */
export function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

// One point for each equal segment, less for a similar one, minus 0.25 for each segment of difference in length.
function likeness(template: readonly string[], segments: readonly string[]): number {
  const given = segments.filter((segment) => segment !== '').map((segment) => segment.toLowerCase())
  const known = template.filter((part) => part !== '')
  const literals = known.filter((part) => !isParameter(part))
  const points = literals.map((part) =>
    given.reduce((most, segment) => Math.max(most, alike(part, segment)), 0),
  )
  return points.reduce((sum, each) => sum + each, 0) - Math.abs(known.length - given.length) * 0.25
}

function alike(a: string, b: string): number {
  return Math.max(0, 1 - (2 * distance(a, b)) / Math.max(a.length, b.length))
}
