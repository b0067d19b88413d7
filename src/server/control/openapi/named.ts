import { isDeepStrictEqual } from 'node:util'
import type { ErrorFormat } from '../../../core/errors.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { errorSchemas, ref } from './parts.ts'

/** The named schemas of a document, collected while its operations are described. */
export class NamedSchemas {
  readonly #schemas = new Map<string, JsonObject>(Object.entries(errorSchemas()))

  get all(): JsonObject {
    return Object.fromEntries(this.#schemas)
  }

  /**
   * A reference to the schema of a response. The name of a resource is its title or its `object`, and the name of a list comes
   * from its rows. Other schemas are named after the operation.
   */
  ofResponse(operation: string, schema: JsonObject): JsonObject {
    const other = `${operation}.response`
    if (this.#moved(other, schema) !== undefined) return ref('schemas', pascal(other))
    const properties = isObject(schema.properties) ? schema.properties : {}
    const { data } = properties
    if (
      objectOf(schema) !== 'list' ||
      !isObject(data) ||
      !isObject(data.items) ||
      !('properties' in data.items)
    )
      return this.#add(pascal(objectOf(schema) ?? other), other, schema)
    const resource = objectOf(data.items)
    const rows = `${operation}.row`
    const items = this.#add(pascal(resource ?? rows), rows, data.items)
    const list = { ...schema, properties: { ...properties, data: { ...data, items } } }
    const name = resource === undefined ? pascal(other) : `${pascal(resource)}List`
    return this.#add(name, other, list)
  }

  /** A reference to the schema of a request body, which is named after the operation. */
  ofRequest(operation: string, schema: JsonObject): JsonObject {
    const name = `${operation}.request`
    const isMoved = this.#moved(name, schema) !== undefined
    return isMoved ? ref('schemas', pascal(name)) : this.#add(pascal(name), name, schema)
  }

  /** The schema of a query, whose references have a target in the document. */
  ofQuery(operation: string, schema: JsonObject): JsonObject {
    return this.#moved(`${operation}.query`, schema) ?? schema
  }

  // A schema of a user may have references into itself. It is added as it is, and they lead to its place in the document; one
  // whose references are by other names than JSON Pointers accepts anything here.
  #moved(name: string, schema: JsonObject): JsonObject | undefined {
    const text = JSON.stringify(schema)
    if (!/"\$(?:ref|dynamicRef)":"/.test(text)) return undefined
    const base = `#/components/schemas/${pascal(name)}`
    const isNamed = /"\$(?:id|anchor|dynamicAnchor|dynamicRef)":"/.test(text)
    const moved: JsonObject = JSON.parse(isNamed ? '{}' : text, (key, value) =>
      key === '$ref' && typeof value === 'string' ? value.replace(/^#/, base) : value,
    )
    this.#schemas.set(pascal(name), moved)
    return moved
  }

  /** A reference to the error body of a code. */
  ofError(code: string, format: ErrorFormat, status: number, title: string): JsonObject {
    const isProblem = format === 'problem'
    const own = isProblem
      ? { status: { const: status }, title: { const: title } }
      : { status_code: { const: status }, error: { const: code } }
    const base = ref('schemas', isProblem ? 'Problem' : 'StandardError')
    const name = `${pascal(code)}${isProblem ? 'Problem' : 'Error'}`
    return this.#add(name, `${code}.${status}`, { allOf: [base, { type: 'object', properties: own }] })
  }

  // Two operations may respond with different views of one resource, so the second view gets another name.
  #add(name: string, other: string, schema: JsonObject): JsonObject {
    const whole = this.#withNamedParts(name, other, schema)
    const known = this.#schemas.get(name)
    const free = known === undefined || isDeepStrictEqual(known, whole) ? name : pascal(other)
    this.#schemas.set(free, whole)
    return ref('schemas', free)
  }

  // A generated client has a type for each object only if the object has a name: its title, or its place in the whole schema.
  #withNamedParts(name: string, other: string, schema: JsonObject): JsonObject {
    const part = (each: Json, key: string): Json => {
      if (!isObject(each)) return each
      const [longName, longOther] = [`${name}.${key}`, `${other}.${key}`]
      if (isPart(each)) return this.#add(pascal(objectOf(each) ?? longName), longOther, each)
      return this.#withNamedParts(longName, longOther, each)
    }
    const { properties, items, anyOf } = schema
    return {
      ...schema,
      ...(isObject(properties) && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([key, each]) => [key, part(each, key)]),
        ),
      }),
      ...(items !== undefined && { items: part(items, 'item') }),
      ...(Array.isArray(anyOf) && { anyOf: anyOf.map((each) => part(each, '')) }),
    }
  }
}

/** Whether a schema describes an object with known contents. */
function isPart({ type, title, properties, additionalProperties: rest }: JsonObject): boolean {
  const known = isObject(properties) ? Object.keys(properties) : []
  return type === 'object' && (title !== undefined || known.length > 0 || (isObject(rest) && 'type' in rest))
}

function objectOf({ title, properties }: JsonObject): string | undefined {
  if (typeof title === 'string') return title
  const object = isObject(properties) ? properties.object : undefined
  const name = isObject(object) ? object.const : undefined
  return typeof name === 'string' ? name : undefined
}

/** The name of a type: `BatchPrediction` for `batch_prediction`, `BatchPredictionsCreate` for `batch-predictions.create`. */
function pascal(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
