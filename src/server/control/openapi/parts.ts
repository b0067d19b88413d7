import { z } from 'zod'
import { fieldError, problemDetails, standardError } from '../../../core/error-body.ts'
import type { JsonObject } from '../../../core/json.ts'
import { once } from '../../../core/once.ts'
import type { AnyOperation } from '../../../core/operation.ts'
import { extensible } from '../../../core/tomorrow.ts'
import { paramNames } from '../route.ts'

/** A reference to a component of the document. */
export const ref = (kind: 'headers' | 'parameters' | 'responses' | 'schemas', name: string): JsonObject => ({
  $ref: `#/components/${kind}/${name}`,
})

/** A zod schema as JSON Schema 2020-12, the version of OpenAPI 3.1. Types that JSON Schema does not have accept any value. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema, zodSchema }) => {
      if (io === 'output' && extensible.has(zodSchema)) jsonSchema['x-extensible'] = true
      // zod's `readonly` is about our own code, not about the API, and a value that is sent needs no default.
      delete jsonSchema.readOnly
      if (io === 'output') delete jsonSchema.default
    },
  })
  return rest as JsonObject
}

/** The parameters of a path template. */
export function pathParameters(path: string, patterns: AnyOperation['pathPatterns'] = {}): JsonObject[] {
  return paramNames(path).map((name) => {
    const pattern = patterns[name]
    const schema = { type: 'string', minLength: 1, ...(pattern && { pattern: pattern.source }) }
    return { name, in: 'path', required: true, schema }
  })
}

/** The fields of a query schema as parameters. @param described the schema in the document */
export function queryParameters(
  schema: z.ZodType | undefined,
  described = schema && jsonSchema(schema, 'input'),
): JsonObject[] {
  const { properties, required } = described ?? {}
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries((properties ?? {}) as JsonObject).map(([name, member]) => {
    const { description, ...schema } = member as JsonObject
    const required = needed.includes(name)
    return { name, in: 'query', required, ...(description === undefined ? {} : { description }), schema }
  })
}

/** A request body of JSON. @param described the schema in the document */
export function jsonBody(schema: z.ZodType, described = jsonSchema(schema, 'input')): JsonObject {
  const required = !schema.safeParse(undefined).success
  return { required, content: { 'application/json': { schema: described } } }
}

/** The license of the emulator, which is that of its documents. */
export const license: JsonObject = { name: 'MIT', identifier: 'MIT' }

/** A header of a response that has a text. */
export const textHeader = (description: string): JsonObject => ({ description, schema: { type: 'string' } })

/** A header of a request that may be absent. */
export const headerParameter = (
  name: string,
  description: string,
  schema: JsonObject = { type: 'string' },
): JsonObject => ({ name, in: 'header', required: false, description, schema })

/** The header of a 401. */
export const challengeHeader: JsonObject = {
  ...textHeader('The scheme in which to send a credential (RFC 9110, 11.6.1).'),
  required: true,
}

/** Operations by path and method, as OpenAPI groups them. */
export function pathsOf(
  entries: Iterable<{ readonly path: string; readonly method: string; readonly item: JsonObject }>,
): JsonObject {
  const paths = new Map<string, JsonObject>()
  for (const { path, method, item } of entries) {
    paths.set(path, { ...paths.get(path), [method.toLowerCase()]: item })
  }
  return Object.fromEntries(paths)
}

/** The bodies of errors as JSON Schemas, which refer to each other. */
export const errorSchemas = once(() => {
  const named = z.registry<{ readonly id: string }>()
  named.add(fieldError, { id: 'FieldError' })
  named.add(standardError, { id: 'StandardError' })
  named.add(problemDetails, { id: 'Problem' })
  const { schemas } = z.toJSONSchema(named, { io: 'input', uri: (id) => `#/components/schemas/${id}` })
  for (const schema of Object.values(schemas)) {
    delete schema.$schema
    delete schema.$id
  }
  return schemas as Readonly<Record<string, JsonObject>>
})
