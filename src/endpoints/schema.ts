import { CALL_MS, CallRefused, withinTime } from '../adapters/scenarios/run-function.ts'
import { IssueList } from '../core/issue-list.ts'
import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { compileWhole } from '../json-schema/whole.ts'

/** A schema of any library that implements Standard Schema v1: https://standardschema.dev. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

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

/** Standard Schema with Standard JSON Schema v1, which zod (from 4.2), ArkType and the converter of Valibot offer. */
type Standard = StandardSchema['~standard'] & {
  readonly jsonSchema?: Record<Use, (options: { readonly target: 'draft-2020-12' }) => object>
}

type Use = 'input' | 'output'

const USABLE =
  'must be a schema of a library with Standard Schema v1 (zod from 3.24, Valibot, ArkType) or a JSON Schema of draft 2020-12'

/**
 * The checker of a schema. It is recognised by its fields, never by its class, since the library is the user's own copy.
 * Throws an error with a sentence for a schema that cannot be used.
 */
export function checkerOf(schema: EndpointSchema, use: Use): Checker {
  const standard = (schema as Partial<StandardSchema> | null | undefined)?.['~standard']
  if (standard?.version === 1) return standardChecker(standard, use)
  if (!isObject(schema)) throw new TypeError(USABLE)
  const issuesOf = withinTime(() => {
    try {
      return compileWhole(schema)
    } catch (error) {
      throw new TypeError(`${USABLE}: ${(error as Error).message}`)
    }
  }, CALL_MS)
  return checker(schema, (value) => {
    const issues = issuesOf(value as Json)
    return issues.length === 0 ? { value } : { issues }
  })
}

/** Adds what every check has: a limit of time, and of listed issues. */
function checker(jsonSchema: object | undefined, check: Checker['check']): Checker {
  return {
    check: (value) => {
      try {
        const result = withinTime(() => check(value), CALL_MS)
        if (!('issues' in result)) return result
        const issues = new IssueList()
        issues.addAll(result.issues)
        return { issues }
      } catch (error) {
        // The value is a client's: a stack that is too small for it is no fault of the schema.
        if (!(error instanceof RangeError)) throw error
        return { issues: [{ pointer: '', detail: 'is nested too deep, or too large, for its schema' }] }
      }
    },
    jsonSchema,
  }
}

class Asynchronous extends Error {
  override readonly message =
    'the schema returned a promise, as zod also does when a function of a schema throws; a schema must be synchronous: move asynchronous checks and transforms out of it'
}

function standardChecker(standard: Standard, use: Use): Checker {
  const made = checker(jsonSchemaOf(standard, use), (value) => {
    const result = standard.validate(value)
    if (!('then' in result))
      return result.issues === undefined
        ? { value: result.value }
        : { issues: result.issues.flatMap(issuesIn) }
    // A rejection adds nothing to the refusal.
    result.catch(() => {})
    throw new Asynchronous()
  })
  for (const sample of [undefined, {}]) {
    try {
      made.check(sample)
    } catch (error) {
      // A function of the schema may expect what a request always has.
      if (error instanceof Asynchronous || error instanceof CallRefused) throw error
    }
  }
  return made
}

function jsonSchemaOf({ jsonSchema }: Standard, use: Use): object | undefined {
  try {
    return withinTime(() => jsonSchema?.[use]({ target: 'draft-2020-12' }), CALL_MS)
  } catch {
    // Libraries throw for a schema that JSON Schema cannot express, such as one of dates.
    return undefined
  }
}

function issuesIn(issue: StandardIssue): Issue[] {
  // The path of ArkType is an array whose `map` fails.
  const path = Array.from(issue.path ?? [], (each) => (typeof each === 'object' ? each.key : each))
  // zod has one issue for all unknown fields of an object.
  const { keys } = issue as { readonly keys?: readonly string[] }
  if (!Array.isArray(keys)) return [{ pointer: pointer(...path), detail: issue.message }]
  return keys.map((key) => ({ pointer: pointer(...path, key), detail: 'is not a known field' }))
}
