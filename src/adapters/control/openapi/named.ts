import { isDeepStrictEqual } from 'node:util'
import type { ErrorCode, ErrorFormat } from '../../../core/errors.ts'
import { isObject, type JsonObject } from '../../../core/json.ts'
import { fieldError, problemDetails, ref, standardError } from './parts.ts'

/** The named schemas of a document, collected while its operations are described. */
export class NamedSchemas {
  readonly #schemas = new Map<string, JsonObject>([
    ['StandardError', standardError],
    ['Problem', problemDetails],
    ['FieldError', fieldError],
  ])

  get all(): JsonObject {
    return Object.fromEntries(this.#schemas)
  }

  /**
   * A reference to the schema of a response. The name of a resource is its title or its `object`, and the name of a list comes
   * from its rows. Other schemas are named after the operation.
   */
  ofResponse(operation: string, schema: JsonObject): JsonObject {
    const properties = isObject(schema.properties) ? schema.properties : {}
    const { data } = properties
    if (
      objectOf(schema) !== 'list' ||
      !isObject(data) ||
      !isObject(data.items) ||
      !('properties' in data.items)
    )
      return this.#add(pascal(objectOf(schema) ?? `${operation}.response`), `${operation}.response`, schema)
    const resource = objectOf(data.items)
    const rows = `${operation}.row`
    const items = this.#add(pascal(resource ?? rows), rows, data.items)
    const list = { ...schema, properties: { ...properties, data: { ...data, items } } }
    const name = resource === undefined ? pascal(`${operation}.response`) : `${pascal(resource)}List`
    return this.#add(name, `${operation}.response`, list)
  }

  /** A reference to the error body of a code. */
  ofError(code: ErrorCode, format: ErrorFormat, status: number, title: string): JsonObject {
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
    const known = this.#schemas.get(name)
    const free = known === undefined || isDeepStrictEqual(known, schema) ? name : pascal(other)
    this.#schemas.set(free, schema)
    return ref('schemas', free)
  }
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
