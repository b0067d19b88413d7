import type { Issue, JsonObject } from '../core/json.ts'
import { pointer } from '../core/json.ts'

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
  | {
      readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[]
    }

export type EndpointSchema = StandardSchema | JsonObject

export interface Checker {
  check(value: unknown): { readonly value: unknown } | { readonly issues: readonly Issue[] }
  readonly jsonSchema: object | undefined
}

export function checkerOf(schema: EndpointSchema, use: 'input' | 'output'): Checker {
  const standard = (schema as StandardSchema)['~standard'] as StandardSchema['~standard'] & {
    readonly jsonSchema?: Record<string, (options: object) => object>
  }
  return {
    check: (value) => {
      const result = standard.validate(value) as StandardResult<unknown>
      if (result.issues === undefined) return { value: result.value }
      return {
        issues: result.issues.map(({ message, path = [] }) => ({
          pointer: pointer(...(path as PropertyKey[])),
          detail: message,
        })),
      }
    },
    jsonSchema: standard.jsonSchema?.[use]?.({ target: 'draft-2020-12' }),
  }
}
