import { z } from 'zod'
import { nonEmptyText } from '../fields.ts'
import { isPointer, type Json, same } from '../json.ts'
import { UNLOGGED_HEADERS } from '../redaction.ts'
import { regexProblem } from '../regex.ts'
import { either, form, json, mapOf, nameAmong, strictObject } from '../strict-input.ts'
import { fitsGlob } from './glob.ts'

/** The conditions of every match of requests, for logged and for incoming requests. */
export function requestMembers(names: OperationNames) {
  return {
    operation: operationName(names).optional(),
    method: nonEmptyText().optional(),
    path: pathMatch().optional(),
    query: mapOf(z.string()).optional(),
    headers: mapOf(z.string(), headerProblem).superRefine(refuseTwice).optional(),
    body: mapOf(bodyRule(), (place) => (isPointer(place) ? undefined : NO_POINTER)).optional(),
    idempotency_key: nonEmptyText().optional(),
  }
}

/** The names that operations have now, and whether another name may be given. */
export interface OperationNames {
  readonly operations: ReadonlyMap<string, unknown>
  readonly mayName?: ((name: string) => boolean) | undefined
}

/** The name of an operation: of one that there is now, or of one that there may be when files of the user change. */
export function operationName(names: OperationNames): z.ZodType<string, string> {
  const among = () => nameAmong([...names.operations.keys()], 'operation')
  if (names.mayName === undefined) return among()
  // The operations of users change while the emulator runs.
  return z.string().superRefine((name, context) => {
    const { error } = names.mayName?.(name) ? {} : among().safeParse(name)
    for (const { message } of error?.issues ?? []) context.addIssue({ code: 'custom', message })
  })
}

function pathMatch(): z.ZodType<PathMatch, PathMatch> {
  const regex = z.string().refine((expression) => regexProblem(expression) === undefined, {
    error: ({ input }) => regexProblem(String(input)),
  })
  return either<PathMatch>(
    'must be a glob such as "/v1/*", or {"regex": "..."}',
    form.text(nonEmptyText()),
    form.object(strictObject({ regex })),
  )
}

const NO_POINTER = 'is not a JSON Pointer; it begins with a slash, as in /items/0/page'

/** The condition for one place of a body: exactly one of the three. `glob` only fits strings. */
const bodyRule = () =>
  strictObject({
    equals: json().optional(),
    exists: z.boolean().optional(),
    glob: z.string().optional(),
  }).refine((rule) => Object.keys(rule).length === 1, {
    error: 'must have exactly one of equals, exists and glob',
  })

export type BodyRule = Readonly<z.output<ReturnType<typeof bodyRule>>>

function headerProblem(name: string): string | undefined {
  const lower = name.toLowerCase()
  if (!UNLOGGED_HEADERS.has(lower)) return undefined
  return lower === 'host' ? 'is never kept' : 'is never kept; search for the caller instead'
}

// With many spellings of its name, one long header would be compared many times.
function refuseTwice(headers: Readonly<Record<string, string>>, context: z.RefinementCtx): void {
  const seen = new Set<string>()
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase()
    if (seen.has(lower)) {
      const message = 'is given twice, in different letter cases of one header name'
      context.addIssue({ code: 'custom', path: [name], message })
    }
    seen.add(lower)
  }
}

/**
 * Matches the requested path from `/v1` on: a glob, in which `*` matches any characters, or a regular expression in the syntax
 * of RE2 that must match somewhere.
 */
export type PathMatch = string | { readonly regex: string }

/** Whether the value at a place of a body fits the rule. `found` is undefined when there is none. */
export function fitsBodyRule(found: Json | undefined, { equals, exists, glob }: BodyRule): boolean {
  if (exists !== undefined) return (found !== undefined) === exists
  if (glob !== undefined) return typeof found === 'string' && fitsGlob(glob, found)
  return found !== undefined && equals !== undefined && same(found, equals)
}
