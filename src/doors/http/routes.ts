import { distance } from 'fastest-levenshtein'
import type { Dialect } from '../../kernel/errors.ts'
import type { AnyOperation } from '../../kernel/operation.ts'

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
  dialectOf(path: string): Dialect {
    const first = path.split('/')[1]
    return this.#routes.find(({ segments }) => segments[1] === first)?.operation.dialect ?? 'standard'
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
