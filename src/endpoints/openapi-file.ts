import { ScenarioError } from '../adapters/scenarios/problem.ts'
import { isObject, type Json, type JsonObject, pointer, valueAt } from '../core/json.ts'
import type { Method } from '../core/operation.ts'
import { contractedBy, endpointOf, pathProblem, type StubRoute } from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import { type Definition, defaultName } from './definition.ts'
import { readDocument } from './openapi-text.ts'
import { lazyChecker } from './schema.ts'

/** Paths of a document, characters of all schemas, each with those that it refers to, and references in a row. */
const MAX = { paths: 1_000, schemas: 10_000_000, hops: 100 }
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const JSON_MEDIA = /^(?:application\/(?:[\w.-]+\+)?json\b|\*\/\*)/i

/**
 * The definitions of an OpenAPI document (3.0 or 3.1, JSON or YAML), for each operation without a contract. Throws a
 * `ScenarioError` with file and line for a document that is wrong, or larger than 1,000,000 characters or 1,000 paths.
 */
export function definitionsOf(text: string, file: string, service: Service): Definition[] {
  const { root, lineOf } = readDocument(text, file)
  const refuseAt = (at: string, message: string): never => {
    throw new ScenarioError({ file, line: lineOf(at), pointer: at, message })
  }
  const { openapi, paths = {} } = isObject(root) ? root : {}
  if (!/^3\.[01](?:\.|$)/.test(String(openapi))) refuseAt('/openapi', 'must be 3.0 or 3.1')
  if (!isObject(paths)) return refuseAt('/paths', 'must be an object')
  if (Object.keys(paths).length > MAX.paths) refuseAt('/paths', `has more than ${MAX.paths} paths`)
  const reader = new OpenApiReader(root as JsonObject)
  const names = new Set<string>()
  return Object.keys(paths).flatMap((given) => {
    const at = pointer('paths', given)
    const path = given.replace(/^\/v1(?=\/)/, '')
    reader.refuse = (message) => refuseAt(at, message)
    const item = reader.follow(paths[given])
    return METHODS.flatMap((method) => {
      const operation = item[method.toLowerCase()]
      if (!isObject(operation) || contractedBy({ method, path }, service)) return []
      const problem = pathProblem(path)
      if (problem !== undefined) refuseAt(at, problem)
      const place = at + pointer(method.toLowerCase())
      reader.refuse = (message) => refuseAt(place, message)
      const { example, ...read } = reader.read(item, operation)
      const unanswered = `${file} has no example of ${example}. Add one, or write the endpoint: workspace-emulator endpoints add ${method} ${path} --from ${file}`
      const name = freeName({ method, path }, service, names)
      names.add(name)
      const source = { file, line: lineOf(place) }
      return [
        {
          method,
          path,
          name,
          ...read,
          ...(!read.responses && { unanswered }),
          example: true,
          source,
        } as const,
      ]
    })
  })
}

// A document cannot say another name, so that of a second one has the parameters in it.
function freeName(route: StubRoute, service: Service, names: ReadonlySet<string>): string {
  const name = defaultName(route, service)
  const known = service.operations.get(name)
  const isFree = !names.has(name) && (known === undefined || endpointOf(known) === endpointOf(route))
  return isFree ? name : defaultName({ ...route, path: route.path.replaceAll(/[{}]/g, '') }, service)
}

/** Reads operations of a document, and follows their references. */
class OpenApiReader {
  refuse: (message: string) => never = (message) => {
    throw new Error(message)
  }
  private readonly root: JsonObject
  private left = MAX.schemas

  constructor(root: JsonObject) {
    this.root = root
  }

  /** The fields of a definition, and in `example` the name of the schema of its response. */
  read({ parameters }: JsonObject, operation: JsonObject) {
    const { summary, security, requestBody, responses } = operation
    const body = this.schema(this.media(this.follow(requestBody))?.schema)
    const query = this.query(
      [parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : [])),
    )
    const all = this.follow(responses)
    const code = Object.keys(all).find((each) => /^2(?:\d\d|XX)$/i.test(each)) ?? 'default'
    const success = this.follow(all[code])
    const { schema, example, examples } = this.media(success) ?? {}
    const output = this.schema(schema)
    const [first] = Object.values(isObject(examples) ? examples : {})
    const shown = example ?? this.follow(first).value ?? this.follow(schema).example
    const isEmpty = all[code] !== undefined && success.content === undefined
    return {
      ...(typeof summary === 'string' && { summary }),
      ...(Array.isArray(security) && security.length === 0 && { auth: false }),
      query: query && lazyChecker(query),
      body: body && lazyChecker(body),
      output: output && lazyChecker(output),
      ...((isEmpty || shown !== undefined) && {
        responses: [{ status: Number(code) || 200, ...(shown !== undefined && { body: shown }) }],
      }),
      example: isObject(schema) && schema.$ref !== undefined ? String(schema.$ref) : 'its response',
    }
  }

  /** The object that a value is or refers to; an empty one for any other value. */
  follow(value: Json | undefined): JsonObject {
    let found = value
    for (let hops = 0; isObject(found) && typeof found.$ref === 'string'; hops++) {
      const { $ref } = found
      if (hops === MAX.hops) this.refuse(`$ref "${$ref}" leads back to itself`)
      found = this.target($ref)
    }
    return isObject(found) ? found : {}
  }

  private target($ref: string): Json {
    if (!$ref.startsWith('#/'))
      this.refuse(`$ref "${$ref}" leads out of the file; copy its target into the file`)
    return valueAt(this.root, decoded($ref)) ?? this.refuse(`$ref "${$ref}" has no target in the file`)
  }

  private media({ content }: JsonObject): JsonObject | undefined {
    const found = Object.entries(isObject(content) ? content : {}).find(([type]) =>
      JSON_MEDIA.test(type),
    )?.[1]
    return isObject(found) ? found : undefined
  }

  private query(parameters: readonly Json[]): JsonObject | undefined {
    const own = parameters.map((each) => this.follow(each)).filter((each) => each.in === 'query')
    if (own.length === 0) return undefined
    const properties = own.map(({ name, schema }) => {
      // The values of a query are texts.
      const { type, ...rest } = this.follow(schema)
      return [
        String(name),
        type === 'string' && !refersOn(rest) ? { type, ...rest } : (TEXTS[String(type)] ?? {}),
      ]
    })
    const required = own.filter((each) => each.required === true).map(({ name }) => String(name))
    return { type: 'object', properties: Object.fromEntries(properties), required: [...new Set(required)] }
  }

  /** A schema as JSON Schema of draft 2020-12, with a copy of each schema that it refers to. */
  private schema(given: Json | undefined): JsonObject | undefined {
    if (!isObject(given)) return undefined
    // Without a prototype, `__proto__` is a name like any other.
    const $defs: Record<string, Json> = Object.create(null)
    const copy = (schema: Json): Json => {
      const text = JSON.stringify(schema)
      this.left -= text.length
      if (this.left < 0) this.refuse(`the schemas of all operations have more than ${MAX.schemas} characters`)
      return JSON.parse(text, (_, each: Json) => {
        if (!isObject(each)) return each
        const { $ref } = each
        if (typeof $ref !== 'string')
          return String(this.root.openapi).startsWith('3.0') ? upgraded(each) : each
        const name = decoded($ref).replace(/^\/(?:components\/schemas\/)?/, '')
        if (!(name in $defs)) {
          $defs[name] = true
          $defs[name] = copy(this.target($ref))
        }
        return { ...each, $ref: `#/$defs/${encodeURIComponent(pointer(name).slice(1))}` }
      })
    }
    const copied = copy(given) as JsonObject
    return Object.keys($defs).length === 0 ? copied : { ...copied, $defs }
  }
}

const refersOn = (schema: JsonObject): boolean => JSON.stringify(schema).includes('"$ref":')

const TEXTS: Readonly<Record<string, JsonObject>> = {
  boolean: { enum: ['true', 'false'] },
  integer: { type: 'string', pattern: '^-?\\d+$' },
  number: { type: 'string', pattern: '^-?\\d+(?:\\.\\d+)?$' },
}

/** The pointer of a reference. decodeURIComponent would throw for a wrong escape. */
const decoded = ($ref: string): string =>
  $ref
    .slice(1)
    .replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** A schema of OpenAPI 3.0 as one of JSON Schema, which those of 3.1 are. */
function upgraded({ nullable, exclusiveMinimum, exclusiveMaximum, ...schema }: JsonObject): JsonObject {
  const { type, enum: values, minimum = null, maximum = null } = schema
  const upgrade: Record<string, Json> = {}
  if (nullable === true && typeof type === 'string') upgrade.type = [type, 'null']
  if (upgrade.type !== undefined && Array.isArray(values)) upgrade.enum = [...values, null]
  if (exclusiveMinimum === true) upgrade.exclusiveMinimum = minimum
  if (exclusiveMaximum === true) upgrade.exclusiveMaximum = maximum
  return { ...schema, ...upgrade }
}
