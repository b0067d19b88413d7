import * as z from 'zod'
import { nonEmptyText } from '../fields.ts'
import { either, form, json, mapOf, nameAmong, strictObject } from '../strict-input.ts'
import type { BodyRule } from './body-rule.ts'
import { isPointer } from './json-pointer.ts'
import { UNKEPT_HEADERS } from './log-entry.ts'
import { regexProblem } from './regex.ts'
import type { PathMatch } from './request-match.ts'

/** What every match of requests can look at, whether it looks at the log or at what is coming in. */
export function requestMembers(operations: readonly string[]) {
  return {
    operation: nameAmong(operations, 'operation').optional(),
    method: nonEmptyText().optional(),
    path: pathMatch().optional(),
    query: mapOf(z.string()).optional(),
    headers: mapOf(z.string(), headerProblem).superRefine(refuseTwice).optional(),
    body: mapOf(bodyRule(), pointerProblem).optional(),
    idempotency_key: nonEmptyText().optional(),
  }
}

function pathMatch(): z.ZodType<PathMatch, PathMatch> {
  const regex = z.string().superRefine((expression, context) => {
    const message = regexProblem(expression)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  return either<PathMatch>(
    'must be a glob such as "/v1/pages/*", or {"regex": "..."}',
    form.text(nonEmptyText()),
    form.object(strictObject({ regex })),
  )
}

/** One of the three. */
function bodyRule(): z.ZodType<BodyRule, BodyRule> {
  const shape = { equals: json().optional(), exists: z.boolean().optional(), glob: z.string().optional() }
  return strictObject(shape).refine((rule) => Object.keys(rule).length === 1, {
    error: 'must have exactly one of equals, exists and glob',
  }) as z.ZodType<BodyRule, BodyRule>
}

function headerProblem(name: string): string | undefined {
  const lower = name.toLowerCase()
  if (!UNKEPT_HEADERS.has(lower)) return undefined
  return lower === 'host' ? 'is never kept' : 'is never kept; look for the caller instead'
}

// Spelled in many ways, one long header would be looked at as often.
function refuseTwice(headers: Readonly<Record<string, string>>, context: z.RefinementCtx): void {
  const seen = new Set<string>()
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase()
    if (seen.has(lower)) {
      const message = 'stands twice, in different letter cases, which are one header'
      context.addIssue({ code: 'custom', path: [name], message })
    }
    seen.add(lower)
  }
}

function pointerProblem(place: string): string | undefined {
  return isPointer(place) ? undefined : 'is no JSON Pointer; one begins with a slash, as in /items/0/page'
}
