import { CALL_MS, CallRefused, withinTime } from '../adapters/scenarios/run-function.ts'
import { IssueList } from '../core/issue-list.ts'
import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { boundsProblem, compileWhole } from '../json-schema/whole.ts'

/** A schema of any library that implements Standard Schema v1: https://standardschema.dev. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Standard JSON Schema v1, which zod (from 4.2), ArkType and the converter of Valibot offer. */
type JsonSchemaSource = Record<'input' | 'output', (options: { readonly target: 'draft-2020-12' }) => unknown>

/** A schema of the user's own library, or a JSON Schema of draft 2020-12. */
export type EndpointSchema = StandardSchema | JsonObject

export interface Checker {
  /**
   * The value as the schema returns it, or every wrong field. Throws an error with a sentence for a schema that fails itself:
   * it returned a promise, threw, or took longer than 5 s.
   */
  check(value: unknown): { readonly value: unknown } | { readonly issues: readonly Issue[] }
  /** Undefined where the library has none for this schema. */
  readonly jsonSchema: object | undefined
}

/** A fault of a schema, not of a value. */
class SchemaFault extends Error {}

const SYNCHRONOUS =
  'the schema returned a promise, as zod also does when a function of a schema throws; a schema must be synchronous: move asynchronous checks and transforms out of it'

/**
 * The checker of a schema. It is recognised by its fields, never by its class, since the library is the user's own copy.
 * Throws an error with a sentence for a schema that cannot be used.
 */
export function checkerOf(schema: EndpointSchema, use: 'input' | 'output'): Checker {
  const standard = standardOf(schema)
  return standard === undefined ? jsonSchemaChecker(schema as JsonObject) : standardChecker(standard, use)
}

type Standard = StandardSchema['~standard'] & { readonly jsonSchema?: JsonSchemaSource }

function standardOf(schema: unknown): Standard | undefined {
  // Schemas of ArkType are functions.
  const isPossible = (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
  const standard = isPossible ? (schema as Partial<StandardSchema>)['~standard'] : undefined
  return standard?.version === 1 && typeof standard.validate === 'function' ? standard : undefined
}

function standardChecker(standard: Standard, use: 'input' | 'output'): Checker {
  const validate = (value: unknown): StandardResult<unknown> => {
    const result = withinTime(() => standard.validate(value), CALL_MS)
    if (!('then' in result)) return result
    // A rejection adds nothing to the refusal.
    result.catch(() => {})
    throw new SchemaFault(SYNCHRONOUS)
  }
  for (const sample of [undefined, {}]) {
    try {
      validate(sample)
    } catch (error) {
      // A function of the schema may expect what a request always has.
      if (error instanceof SchemaFault || error instanceof CallRefused) throw error
    }
  }
  return {
    check: (value) =>
      withinDepth(() => {
        const result = validate(value)
        return result.issues === undefined ? { value: result.value } : { issues: listOf(result.issues) }
      }),
    jsonSchema: jsonSchemaOf(standard, use),
  }
}

function jsonSchemaOf({ jsonSchema }: Standard, use: 'input' | 'output'): object | undefined {
  try {
    const made = withinTime(() => jsonSchema?.[use]({ target: 'draft-2020-12' }), CALL_MS)
    return isObject(made) && boundsProblem(made, MAX_VALUES) === undefined ? made : undefined
  } catch {
    // Libraries throw for a schema that JSON Schema cannot express, such as one of dates.
    return undefined
  }
}

/** JSON values in a schema that a library makes. */
const MAX_VALUES = 10_000

function listOf(issues: readonly StandardIssue[]): IssueList {
  const list = new IssueList()
  for (const issue of issues) {
    // The path of ArkType is an array whose `map` fails.
    const path = Array.from(issue.path ?? [], (each) => (typeof each === 'object' ? each.key : each))
    // zod has one issue for all unknown fields of an object.
    const { keys } = issue as { readonly keys?: readonly string[] }
    if (!Array.isArray(keys)) list.push({ pointer: pointer(...path), detail: String(issue.message) })
    else for (const key of keys) list.push({ pointer: pointer(...path, key), detail: 'is not a known field' })
  }
  return list
}

const USABLE =
  'must be a schema of a library with Standard Schema v1 (zod from 3.24, Valibot, ArkType) or a JSON Schema of draft 2020-12'

function jsonSchemaChecker(schema: JsonObject): Checker {
  if (!isObject(schema)) throw new SchemaFault(USABLE)
  const issues = withinTime(() => {
    try {
      return compileWhole(schema)
    } catch (error) {
      throw new SchemaFault(`${USABLE}: ${(error as Error).message}`)
    }
  }, CALL_MS)
  return {
    check: (value) =>
      withinDepth(() => {
        const found = withinTime(() => issues(value as Json), CALL_MS)
        if (found.length === 0) return { value }
        const list = new IssueList()
        list.addAll(found)
        return { issues: list }
      }),
    jsonSchema: schema,
  }
}

// The value comes from a client; a stack that is too small for it, or for its problems, is no fault of the schema.
function withinDepth(check: Checker['check'] extends (value: unknown) => infer R ? () => R : never) {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { issues: [{ pointer: '', detail: 'is nested too deep, or too large, for its schema' }] }
  }
}
