import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { isObject, type JsonObject } from '../../../src/core/json.ts'

export interface Described {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly segments: readonly string[]
  readonly query: readonly { readonly name: string; readonly schema: JsonObject }[]
  readonly idempotent: boolean
  readonly contract: boolean
  readonly body: JsonObject | undefined
  readonly bodyRequired: boolean
  readonly isProblem: boolean
  readonly success: number
  readonly media: string | undefined
  readonly accepts: (body: unknown) => boolean
  /** The problem in the body of a success, or in one of its lines; undefined if it is valid. */
  readonly judge: (body: unknown) => string | undefined
}

export interface ApiDocument {
  readonly operations: readonly Described[]
  /** The operation of a request, or undefined. HEAD has the operation of GET. */
  readonly match: (method: string, path: string) => Described | undefined
  readonly standardError: (body: unknown) => string | undefined
  readonly problem: (body: unknown) => string | undefined
}

/** Reads the OpenAPI document. Throws if its form is not the one that the emulator produces. */
export function readDocument(document: unknown): ApiDocument {
  const ajv = new Ajv2020({ strict: false, allErrors: false, ownProperties: true })
  formats.default(ajv)
  const root = must(document)
  ajv.addSchema({ $id: 'api', components: must(root.components) })
  const judgeOf = (schema: JsonObject): ((value: unknown) => string | undefined) => {
    // The schema of a stream has that of its lines.
    const { $ref: name } = isObject(schema.contentSchema) ? schema.contentSchema : schema
    // A named schema may refer to other schemas of its document.
    const valid = ajv.compile(
      typeof name === 'string' && name.startsWith('#') ? { $ref: `api${name}` } : schema,
    )
    return (value) => (valid(value) ? undefined : ajv.errorsText(valid.errors))
  }
  const errorJudge = (name: string) => {
    const judge = judgeOf({ $ref: `api#/components/schemas/${name}` })
    const known = Object.keys(must(must(must(must(root.components).schemas)[name]).properties))
    return (body: unknown): string | undefined => {
      const strange = isObject(body) ? Object.keys(body).filter((key) => !known.includes(key)) : []
      return strange.length > 0 ? `has the members ${strange.join(', ')}` : judge(body)
    }
  }
  const schemas = must(must(root.components).schemas)
  const written = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(written)
    if (!isObject(value)) return value
    if (typeof value.$ref === 'string') return written(schemas[value.$ref.split('/').at(-1) ?? ''])
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, written(each)]))
  }
  const operations = Object.entries(must(root.paths)).flatMap(([path, methods]) =>
    Object.entries(must(methods)).map(([method, item]) =>
      describe(path, method, must(item), judgeOf, written),
    ),
  )
  return {
    operations,
    match: (method, path) => matching(operations, method === 'HEAD' ? 'GET' : method, path.split('/')),
    standardError: errorJudge('StandardError'),
    problem: errorJudge('Problem'),
  }
}

function describe(
  path: string,
  method: string,
  item: JsonObject,
  judgeOf: (schema: JsonObject) => (value: unknown) => string | undefined,
  written: (schema: unknown) => unknown,
): Described {
  const parameters = list(item.parameters)
  const query = parameters.filter((each) => each.in === 'query')
  const [status = '', response] = Object.entries(must(item.responses)).find(([code]) => code < '300') ?? []
  const [media, content] =
    Object.entries(isObject(response) && isObject(response.content) ? response.content : {})[0] ?? []
  const body = isObject(item.requestBody) ? item.requestBody : undefined
  const named = body && must(must(must(body.content)['application/json']).schema)
  // Values are generated from the whole schema of a body, without references.
  const schema = named && must(written(named))
  const refuses = schema === undefined ? () => undefined : judgeOf(schema)
  const errors = must(must(must(item.responses).default).content)
  return {
    name: String(item.operationId),
    method: method.toUpperCase(),
    path,
    segments: path.split('/'),
    query: query.map((each) => ({ name: String(each.name), schema: must(each.schema) })),
    idempotent: parameters.some((each) => each.in === 'header' && each.name === 'Idempotency-Key'),
    contract: item['x-contract'] !== false,
    body: schema,
    bodyRequired: body?.required === true,
    isProblem: 'application/problem+json' in errors,
    success: Number(status),
    media,
    accepts: (value) => refuses(value) === undefined,
    judge: content === undefined ? () => 'there should be none' : judgeOf(must(must(content).schema)),
  }
}

function matching(
  operations: readonly Described[],
  method: string,
  segments: readonly string[],
): Described | undefined {
  const fitting = operations.filter(
    (each) =>
      each.method === method &&
      each.segments.length === segments.length &&
      each.segments.every((part, n) => (isParameter(part) ? segments[n] !== '' : part === segments[n])),
  )
  return fitting.sort(
    (a, b) => a.segments.filter(isParameter).length - b.segments.filter(isParameter).length,
  )[0]
}

export function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

function must(value: unknown): JsonObject {
  if (!isObject(value))
    throw new Error(`the OpenAPI document has ${JSON.stringify(value)} where an object should be`)
  return value
}

function list(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(must) : []
}
