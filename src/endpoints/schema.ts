import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { CALL_MS, CallRefused, withinTime } from '../adapters/scenarios/run-function.ts'
import { IssueList } from '../core/issue-list.ts'
import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { once } from '../core/once.ts'
import { compileWhole } from '../json-schema/whole.ts'

/** A schema of the user's own library with Standard Schema v1, or a JSON Schema of draft 2020-12. */
export type EndpointSchema = StandardSchemaV1 | JsonObject

export interface Checker {
  /** The value as the schema returns it, or every wrong field. Throws if the schema itself fails, or takes longer than 5 s. */
  check(value: unknown): { readonly value: unknown } | { readonly issues: readonly Issue[] }
  /** Undefined where the library has none for this schema. */
  readonly jsonSchema: object | undefined
}

const USABLE =
  'must be a schema of a library with Standard Schema v1 (zod from 3.24, Valibot, ArkType) or a JSON Schema of draft 2020-12'
const SYNCHRONOUS =
  'the schema returned a promise, as zod also does when a function of a schema throws; a schema must be synchronous: move asynchronous checks and transforms out of it'

const loadValidator = once(() => compileWhole({}))

/**
 * The checker of a schema. It is recognised by its fields, never by its class, since the library is the user's own copy.
 * Throws an error with a sentence for a schema that cannot be used.
 */
export function checkerOf(schema: EndpointSchema, use: 'input' | 'output'): Checker {
  const standard = (schema as Partial<StandardSchemaV1> | null | undefined)?.['~standard']
  if (standard?.version === 1) return standardChecker(standard, use)
  if (!isObject(schema)) throw new TypeError(USABLE)
  // To load the validator takes long on a busy machine, and is no fault of a schema.
  loadValidator()
  try {
    const issuesOf = withinTime(() => compileWhole(schema), CALL_MS)
    return checker(schema, (value) => issuesOf(value as Json))
  } catch (error) {
    throw new TypeError(`${USABLE}: ${(error as Error).message}`)
  }
}

/** As {@link checkerOf}, for one of many JSON Schemas: it is compiled with its first value. */
export function lazyChecker(jsonSchema: JsonObject): Checker {
  const made = once(() => checkerOf(jsonSchema, 'input'))
  return { jsonSchema, check: (value) => made().check(value) }
}

function standardChecker(standard: StandardSchemaV1.Props, use: 'input' | 'output'): Checker {
  const made = checker(jsonSchemaOf(standard, use), (value) => {
    const result = standard.validate(value)
    if (!('then' in result))
      return result.issues === undefined ? { value: result.value } : result.issues.flatMap(issuesIn)
    // A rejection adds nothing to the refusal.
    result.catch(() => {})
    throw new CallRefused(SYNCHRONOUS)
  })
  for (const sample of [undefined, {}]) {
    try {
      made.check(sample)
    } catch (error) {
      // Functions of the schema may expect what a request always has.
      if (error instanceof CallRefused) throw error
    }
  }
  return made
}

function checker(
  jsonSchema: object | undefined,
  run: (value: unknown) => Issue[] | { value: unknown },
): Checker {
  const check: Checker['check'] = (value) => {
    try {
      const result = withinTime(() => run(value), CALL_MS)
      if (!Array.isArray(result)) return result
      const issues = new IssueList()
      issues.addAll(result)
      return issues.length > 0 ? { issues } : { value }
    } catch (error) {
      // The value is a client's: a stack that is too small for it is no fault of the schema.
      if (!(error instanceof RangeError)) throw error
      return { issues: [{ pointer: '', detail: 'is nested too deep, or too large, for its schema' }] }
    }
  }
  return { check, jsonSchema }
}

function jsonSchemaOf(standard: object, use: 'input' | 'output'): object | undefined {
  const { jsonSchema } = standard as Partial<StandardJSONSchemaV1.Props>
  try {
    return withinTime(() => jsonSchema?.[use]({ target: 'draft-2020-12' }), CALL_MS)
  } catch {
    // Libraries throw for a schema that JSON Schema cannot express, such as one of dates.
    return undefined
  }
}

function issuesIn(issue: StandardSchemaV1.Issue): Issue[] {
  // The path of ArkType is an array whose `map` fails.
  const path = Array.from(issue.path ?? [], (each) => (typeof each === 'object' ? each.key : each))
  // zod has one issue for all unknown fields of an object.
  const { keys } = issue as { readonly keys?: readonly string[] }
  if (!Array.isArray(keys)) return [{ pointer: pointer(...path), detail: issue.message }]
  return keys.map((key) => ({ pointer: pointer(...path, key), detail: 'is not a known field' }))
}
