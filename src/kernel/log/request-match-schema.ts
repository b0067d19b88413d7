import * as z from 'zod'
import { didYouMean } from '../assumptions.ts'
import { nonEmptyText } from '../fields.ts'
import { isObject } from '../json.ts'
import { zodIssues } from '../zod-issues.ts'
import type { BodyRule } from './body-rule.ts'
import { isPointer, keysOf } from './json-pointer.ts'
import { UNKEPT_HEADERS } from './log-entry.ts'
import type { CallerMatch } from './request-match.ts'

/** A status such as 429, or a class such as `4xx`. */
export const STATUS_PATTERN = /^[1-5](\d\d|xx)$/

/** Every criterion is held against every entry of a log, and shown where it fails. */
const MOST_CRITERIA = 100

const STATUS = { error: 'must be a status such as 429, or a class such as "4xx"' }

/** The schema of a `RequestMatch` (`request-match.ts`) over a service's operations. `more`: members beside those of every match. */
export function matchSchema<M extends z.ZodRawShape>(operations: Iterable<string>, more: M) {
  const shape = { ...members([...operations]), ...more }
  return strict(shape).refine((match) => Object.keys(match).length > 0, {
    error: `must have at least one of ${Object.keys(shape).join(', ')}`,
  })
}

function members(operations: readonly string[]) {
  return {
    operation: z
      .string()
      .refine((name) => operations.includes(name), {
        error: ({ input }) => `is no operation.${didYouMean(String(input), operations)}`,
      })
      .optional(),
    method: nonEmptyText().optional(),
    path: nonEmptyText().optional(),
    status: z
      .union(
        [z.int(STATUS).min(100, STATUS).max(599, STATUS), z.string(STATUS).regex(STATUS_PATTERN, STATUS)],
        STATUS,
      )
      .optional(),
    query: mapOf(z.string()).optional(),
    headers: mapOf(z.string(), headerProblem).superRefine(refuseTwice).optional(),
    body: mapOf(bodyRule(), pointerProblem).optional(),
    idempotency_key: nonEmptyText().optional(),
    caller: callerMatch().optional(),
  }
}

/** One of the three. */
function bodyRule(): z.ZodType<BodyRule> {
  const shape = {
    equals: z.json().optional(),
    exists: z.boolean().optional(),
    glob: z.string().optional(),
  }
  return strict(shape).refine((rule) => Object.keys(rule).length === 1, {
    error: 'must have exactly one of equals, exists and glob',
  }) as z.ZodType<BodyRule>
}

function callerMatch(): z.ZodType<CallerMatch> {
  const shape = {
    kind: z.enum(['user', 'service']).optional(),
    user_id: z.string().optional(),
    key_id: z.string().optional(),
  }
  return strict(shape).refine((caller) => Object.keys(caller).length > 0, {
    error: 'must have at least one of kind, user_id and key_id',
  })
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

/** An object whose unknown members are refused with the nearest known name. */
function strict<S extends z.ZodRawShape>(shape: S) {
  const known = Object.keys(shape)
  const unknown = z.custom<never>(() => false, {
    error: ({ path }) => `is not a known member.${didYouMean(String(path?.at(-1) ?? ''), known)}`,
  })
  return z.object(shape).catchall(unknown).meta({ additionalProperties: false })
}

// zod's record would drop a key named `__proto__`, and a criterion with it.
function mapOf<T>(value: z.ZodType<T>, problemOf: (key: string) => string | undefined = () => undefined) {
  return z
    .custom<Readonly<Record<string, T>>>(isObject, { error: 'must be an object' })
    .refine((map) => Object.keys(map).length <= MOST_CRITERIA, {
      error: `must have at most ${MOST_CRITERIA} members`,
      abort: true,
    })
    .superRefine((map, context) => {
      for (const [key, member] of Object.entries(map)) {
        const problem = problemOf(key)
        if (problem !== undefined) context.addIssue({ code: 'custom', path: [key], message: problem })
        const { error } = value.safeParse(member)
        for (const { pointer, detail } of error === undefined ? [] : zodIssues(error, ''))
          context.addIssue({ code: 'custom', path: [key, ...keysOf(pointer)], message: detail })
      }
    })
    .meta({ type: 'object' })
}
