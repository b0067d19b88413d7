import { z } from 'zod'
import { nonEmptyText, type ShapeOf } from '../fields.ts'
import { type Json, ownValue, valueAt } from '../json.ts'
import { fitsRegex } from '../regex.ts'
import { json, someOf } from '../strict-input.ts'
import { fitsGlob } from './glob.ts'
import { fitsBodyRule, type OperationNames, type PathMatch, requestMembers } from './request-criteria.ts'
import type { LogEntry } from './request-log.ts'
import { traceIn } from './traceparent.ts'

/** A status such as 429, a class such as `4xx`, or 0 for a request that was cut off before its response. */
export const STATUS_PATTERN = /^(0|[1-5](\d\d|xx))$/

const STATUS = { error: 'must be a status such as 429, a class such as "4xx", or 0 for no response' }

const callerMatch = () =>
  someOf({
    kind: z.enum(['user', 'service']).optional(),
    user_id: z.string().optional(),
    key_id: z.string().optional(),
  })

export type CallerMatch = z.output<ReturnType<typeof callerMatch>>

/** The conditions of every search for requests. All given ones must hold. Texts are globs unless another form is named. */
function matchFields(names: OperationNames) {
  return {
    ...requestMembers(names),
    status: status().optional(),
    /** Id of the trace in `traceparent`. */
    trace: nonEmptyText().optional(),
    caller: callerMatch().optional(),
  }
}

export type RequestMatch = Readonly<z.output<z.ZodObject<ReturnType<typeof matchFields>>>>

/** The schema of a `RequestMatch` for a service's operations. `more`: further fields. */
export function matchSchema<M extends z.ZodRawShape>(names: OperationNames, more: M) {
  return someOf({ ...matchFields(names), ...more })
}

function status() {
  const number = z.int(STATUS).refine((value) => value === 0 || (value >= 100 && value <= 599), STATUS)
  return z.union([number, z.string(STATUS).regex(STATUS_PATTERN, STATUS)], STATUS)
}

/** The parts of a request that are compared; an entry of the request log has all of them. */
export type Matchable = Pick<
  LogEntry,
  'operation' | 'method' | 'path' | 'pathPrefix' | 'query' | 'headers' | 'body' | 'caller'
> & { readonly status?: number }

/** One criterion that does not hold. `actual` is null if the request has no value. */
export const missed = () =>
  z.strictObject({
    /** `path`, `query limit`, `body /items/0/custom_id`, ... */
    what: z.string(),
    expected: json(),
    actual: json(),
  })

export type Missed = ShapeOf<typeof missed>

interface Criterion extends Missed {
  readonly holds: boolean
}

/** Compares a request with a match: the number of criteria, and those that do not hold. It fits when `missed` is empty. */
export function compare(match: RequestMatch, request: Matchable) {
  const all = [...plain(match, request), ...named(match, request), ...bodyCriteria(match, request)]
  const missed = all.flatMap(({ holds, ...criterion }) => (holds ? [] : [criterion]))
  return { criteria: all.length, missed }
}

export function matches(match: RequestMatch, request: Matchable): boolean {
  return compare(match, request).missed.length === 0
}

function* plain(match: RequestMatch, request: Matchable): Iterable<Criterion> {
  const { operation, method, path, status } = match
  if (operation !== undefined) yield same('operation', operation, request.operation)
  if (method !== undefined) yield same('method', method.toUpperCase(), request.method)
  if (path !== undefined) yield ofPath(path, request.path.slice(request.pathPrefix.length))
  if (status !== undefined) {
    const holds = request.status !== undefined && fitsStatus(status, request.status)
    yield { what: 'status', expected: status, actual: request.status ?? null, holds }
  }
}

function* named(match: RequestMatch, request: Matchable): Iterable<Criterion> {
  const { query = {}, headers = {}, idempotency_key: key, trace, caller = {} } = match
  for (const [name, value] of Object.entries(query)) {
    const given = ownValue(request.query, name)
    const values = given === undefined ? [] : [given].flat()
    const holds = values.some((each) => fitsGlob(value, each))
    yield { what: `query ${name}`, expected: value, actual: given ?? null, holds }
  }
  for (const [name, pattern] of Object.entries(headers))
    yield glob(`header ${name}`, pattern, header(request, name))
  if (key !== undefined) yield glob('idempotency_key', key, header(request, 'idempotency-key'))
  if (trace !== undefined) yield glob('trace', trace, traceIn(request.headers).trace)
  for (const [name, value] of Object.entries(caller)) {
    if (value !== undefined) yield same(`caller ${name}`, value, request.caller?.[name as keyof CallerMatch])
  }
}

function* bodyCriteria({ body: rules = {} }: RequestMatch, { body }: Matchable): Iterable<Criterion> {
  for (const [place, rule] of Object.entries(rules)) {
    const what = `body ${place === '' ? '(whole)' : place}`
    if (body.kind === 'large') {
      const actual = `(a body of ${body.bytes ?? 'many'} bytes, which the log does not keep)`
      yield { what, expected: rule as Json, actual, holds: false }
      continue
    }
    const found = body.kind === 'json' ? valueAt(body.value, place) : undefined
    yield { what, expected: rule as Json, actual: found ?? null, holds: fitsBodyRule(found, rule) }
  }
}

function same(what: string, expected: string, actual: string | null = null): Criterion {
  return { what, expected, actual, holds: actual === expected }
}

function ofPath(expected: PathMatch, actual: string): Criterion {
  if (typeof expected === 'string') return glob('path', expected, actual)
  return { what: 'path', expected, actual, holds: fitsRegex(expected.regex, actual) }
}

function glob(what: string, expected: string, actual: string | undefined): Criterion {
  return { what, expected, actual: actual ?? null, holds: actual !== undefined && fitsGlob(expected, actual) }
}

function header({ headers }: Matchable, name: string): string | undefined {
  return ownValue(headers, name.toLowerCase())
}

/** Whether a status is the wanted one, or of the wanted class, such as `4xx`. */
function fitsStatus(wanted: number | string, status: number): boolean {
  const [given, asked] = [String(status), String(wanted)]
  return asked.endsWith('xx') ? given[0] === asked[0] : given === asked
}
