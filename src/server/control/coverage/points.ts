import { Settings } from '../../../core/assumptions.ts'
import { errorFacts, Refusal } from '../../../core/errors.ts'
import { codePoints } from '../../../core/fields.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { type AnyOperation, codesOf, inputOf } from '../../../core/operation.ts'
import type { Service } from '../../../core/service.ts'
import { workspaceDocument } from '../openapi/workspace.ts'
import { type CoveredPoint, POINT_KINDS } from './report.ts'

/** One fact of the contract that a client can meet. */
type Point = Omit<CoveredPoint, 'met'>

/** A point that values in a request or response meet. */
interface ValuePoint extends Point {
  /** Keys from the whole exchange to the value; `*`: each element or field, `@`: each key. */
  readonly path: readonly string[]
  readonly fits: (value: Json) => boolean
}

/** Every point of a service, the cheapest first, and those that values meet, by operation. */
export type Contract = ReturnType<typeof contractOf>

/** Arms a fault rule. */
const COMMAND = 'workspace-emulator faults add'

/** The ids of the points that are not about a value. */
export const pointId = {
  status: (operation: string, status: number) => `status ${operation} ${status}`,
  error: (code: string) => `error ${code}`,
  event: (type: string) => `event ${type}`,
  transition: (table: string, from: string, to: string) => `transition ${table} ${from} -> ${to}`,
}

/** The contract of a service under the default settings. It is read from its OpenAPI document and its declarations. */
export function contractOf(service: Service) {
  const settings = new Settings()
  const document = workspaceDocument(service, settings, { title: '', version: '' })
  const components = (document.components as JsonObject).schemas as JsonObject
  const points = new Map<string, Point>()
  const values = new Map<string, readonly ValuePoint[]>()
  const add = (point: Point): void => {
    if (!points.has(point.id)) points.set(point.id, point)
  }
  for (const operation of service.operations.values()) {
    const { name, method, path } = operation
    const item = (document.paths as Record<string, JsonObject>)[path]?.[method.toLowerCase()] as JsonObject
    const statuses = Object.keys(item.responses as JsonObject).filter((status) => status !== 'default')
    for (const status of statuses.map(Number)) {
      const how = status < 300 ? `${method} /v1${path}` : rule(operation, { status })
      add({ id: pointId.status(name, status), kind: 'status', how })
    }
    for (const code of codesOf(operation, inputOf(operation, settings))) {
      const { status } = errorFacts(new Refusal(code, { detail: '' }), settings)
      add({ id: pointId.error(code), kind: 'error', how: rule(operation, { status, code }) })
    }
    values.set(name, [...valuesIn(item, name, components)])
    for (const { id, kind, how } of values.get(name) ?? []) add({ id, kind, how })
  }
  for (const { table, arrows } of service.lifecycles)
    for (const { from, on, to } of arrows.filter((arrow) => arrow.from !== arrow.to)) {
      const how = `Let a record of ${table} ${on} while it is ${from}.`
      add({ id: pointId.transition(table, from, to), kind: 'transition', how })
    }
  for (const { type } of service.webhookTypes) {
    const how = `"workspace-emulator webhook add URL" with a receiver that responds to ${type} with 200.`
    add({ id: pointId.event(type), kind: 'event', how })
  }
  return { points: [...points.values()].sort((a, b) => costOf(a) - costOf(b)), values }
}

/**
 * The ids of the points that the values of an exchange meet.
 * @param exchanged `query`, `header`, `body` or `response`, each with its value
 */
export function idsIn(values: readonly ValuePoint[], exchanged: object): string[] {
  const whole = exchanged as JsonObject
  return values.flatMap(({ id, path, fits }) => ([...valuesAt(whole, path)].some(fits) ? [id] : []))
}

function* valuesIn(item: JsonObject, name: string, components: JsonObject): Iterable<ValuePoint> {
  for (const { in: place, name: key, schema } of item.parameters as readonly JsonObject[]) {
    const path = [`${place}`, place === 'header' ? `${key}`.toLowerCase() : `${key}`]
    if (place !== 'path') yield* valuePoints(schema, `${name} ${place} ${key}`, path, components)
  }
  for (const schema of schemasIn(item.requestBody))
    yield* valuePoints(schema, `${name} body`, ['body'], components)
  const [, success] = Object.entries(item.responses as JsonObject).find(([status]) => /^2/.test(status)) ?? []
  for (const schema of schemasIn(success)) yield* valuePoints(schema, name, ['response'], components)
}

function schemasIn(part: Json | undefined): Json[] {
  const content = isObject(part) && isObject(part.content) ? Object.values(part.content) : []
  return content.flatMap((each) => (isObject(each) ? (each.schema ?? []) : []))
}

/** The command for a rule that gives any error of an operation. */
function rule({ name }: AnyOperation, error: { readonly status: number; readonly code?: string }): string {
  return `${COMMAND} '${JSON.stringify({ match: { operation: name }, times: 1, do: [{ respond: error }] })}'`
}

// A success takes one call; for an error a rule has to be armed first.
function costOf({ kind, how }: Point): number {
  return kind === 'status' && !how.startsWith(COMMAND) ? -1 : POINT_KINDS.indexOf(kind)
}

/** The keywords that bound a size, and its unit. */
const BOUNDS = {
  minimum: 'as its value',
  maximum: 'as its value',
  minLength: 'characters',
  maxLength: 'characters',
  minItems: 'elements',
  maxItems: 'elements',
  maxProperties: 'fields',
}

/**
 * The points of a JSON Schema: the members of enumerations and, in a request, each bound and the size one step beyond it. A field
 * of a response is named after its schema, one of a request after its place: the call that sends it.
 * @param components the schemas that `$ref` names
 */
function* valuePoints(
  schema: Json | undefined,
  name: string,
  path: readonly string[],
  components: JsonObject,
  refs: readonly string[] = [],
): Iterable<ValuePoint> {
  if (!isObject(schema)) return
  const isRequest = path[0] !== 'response'
  if (typeof schema.$ref === 'string') {
    const target = schema.$ref.split('/').at(-1) ?? ''
    if (!refs.includes(target))
      yield* valuePoints(components[target], isRequest ? name : target, path, components, [...refs, target])
    return
  }
  const members = membersOf(schema)
  for (const member of members.length > 1 ? members : []) {
    const text = JSON.stringify(member)
    const how = isRequest
      ? `Send ${name} with the value ${text}.`
      : `Read a response whose ${name} is ${text}.`
    yield { id: `enum ${name} ${text}`, kind: 'enum', how, path, fits: (value) => value === member }
  }
  if (isRequest) yield* boundPoints(schema, name, path)
  const inside = (key: string, each: Json | undefined) =>
    valuePoints(each, `${name}/${key}`, [...path, key], components, refs)
  for (const [key, field] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    yield* inside(key, field)
  yield* inside('*', schema.items)
  yield* inside('*', schema.additionalProperties)
  yield* inside('@', schema.propertyNames)
  // The values of the lines of a stream are looked at one by one.
  for (const each of [schema.contentSchema, schema.anyOf, schema.oneOf, schema.allOf].flat())
    yield* valuePoints(each as Json, name, path, components, refs)
}

function* boundPoints(schema: JsonObject, name: string, path: readonly string[]): Iterable<ValuePoint> {
  for (const [bound, unit] of Object.entries(BOUNDS)) {
    const size = schema[bound]
    if (typeof size !== 'number' || Math.abs(size) >= Number.MAX_SAFE_INTEGER) continue
    const beyond = size + (bound.startsWith('min') ? -1 : 1)
    // No text or list has fewer than no elements.
    for (const each of beyond < 0 && bound !== 'minimum' ? [size] : [size, beyond]) {
      const [id, how] = [`bound ${name} ${bound}: ${each}`, `Send ${name} with ${each} ${unit}.`]
      yield { id, kind: 'bound', how, path, fits: (value) => sizeOf(value, unit) === each }
    }
  }
}

/** The size of a value in a unit; undefined for a value of another type. */
function sizeOf(value: Json, unit: string): number | undefined {
  if (unit === 'characters') return typeof value === 'string' ? codePoints(value) : undefined
  if (unit === 'elements') return Array.isArray(value) ? value.length : undefined
  if (unit === 'fields') return isObject(value) ? Object.keys(value).length : undefined
  // A number in a query is a text.
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value))
    ? Number(value)
    : undefined
}

/** The values at a path in a whole value. */
function* valuesAt(value: Json | undefined, [key, ...rest]: readonly string[]): Iterable<Json> {
  if (value === undefined) return
  if (key === undefined) yield value
  else if (key === '@') yield* isObject(value) ? Object.keys(value) : []
  else if (typeof value !== 'object' || value === null) return
  else if (key === '*') for (const each of Object.values(value)) yield* valuesAt(each as Json, rest)
  else if (isObject(value) && Object.hasOwn(value, key)) yield* valuesAt(value[key], rest)
}

function membersOf({ enum: members, anyOf, oneOf }: JsonObject): readonly Json[] {
  if (Array.isArray(members)) return members
  const branches = [anyOf, oneOf].find((each) => Array.isArray(each)) as readonly Json[] | undefined
  return (branches ?? []).flatMap((each) => (isObject(each) && each.const !== undefined ? [each.const] : []))
}
