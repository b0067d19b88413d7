import { z } from 'zod'
import { didYouMean } from './did-you-mean.ts'
import { IssueList, isRemainder, STOPPED } from './issue-list.ts'
import { type Issue, keysOf, pointer } from './json.ts'
import { counted } from './words.ts'

/** The message for a missing field. */
export const REQUIRED = 'is required'

// zod has one message for a missing choice and for a wrong one. A message that a schema sets takes precedence over these.
z.config({
  customError: (issue) => {
    if (issue.code === 'too_small' || issue.code === 'too_big') return outOfBounds(issue)
    if (issue.code === 'unrecognized_keys') return unknownFields(issue)
    if (issue.code !== 'invalid_value') return undefined
    if (issue.input === undefined) return REQUIRED
    const values = issue.values.map((value) => JSON.stringify(value))
    return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
  },
})

/** Number of unknown fields for which the known one that they resemble is searched: no more of them are listed. */
const MAX_COMPARED = 100

/** A line for each unknown field, with the known one that it resembles. */
function unknownFields({ keys, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueUnrecognizedKeys>): string {
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape) : []
  const compared = keys.slice(0, MAX_COMPARED)
  return compared.map((key) => `is not a known field.${didYouMean(key, known)}`.replace(/\.$/, '')).join('\n')
}

type OutOfBounds = z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>

// zod's own message would be about an "array to have >=1 items".
function outOfBounds({ origin, inclusive, ...issue }: OutOfBounds): string {
  const [bound, atBound, beyond] =
    issue.code === 'too_small'
      ? [Number(issue.minimum), 'at least', 'more than']
      : [Number(issue.maximum), 'at most', 'less than']
  const limit = inclusive === false ? beyond : atBound
  if (origin === 'array') return `must have ${limit} ${counted(bound, 'item')}`
  if (origin === 'string') return `must have ${limit} ${counted(bound, 'character')}`
  return `must be ${limit} ${bound}`
}

/** Number of values that are checked in one go: most bodies and queries have fewer. */
const FEW_VALUES = 100

/** The maximum number of values inside a value whose problems zod may list. */
const MAX_VALUES = 25_000

/**
 * Checks a value as `schema.safeParse` does. zod builds every problem before it returns, and joins lists of them in a call
 * with as many arguments. So the check ends at the first problem when the value is large, and says so.
 * @param how {@link UNCOMPILED} for a schema that checks few values
 */
export function parsed<S extends z.ZodType>(schema: S, value: unknown, how?: typeof UNCOMPILED) {
  if (isWithin(value, FEW_VALUES)) return schema.safeParse(value, how)
  const first = schema.safeParse(value, { ...how, ...EARLY })
  if (first.success) return first
  if (isWithin(value, MAX_VALUES)) {
    try {
      return schema.safeParse(value)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }
  const params = { remainder: STOPPED }
  first.error.issues.push({ code: 'custom', path: [], input: undefined, message: STOPPED.detail, params })
  return first
}

/** zod compiles a schema to a function when it first checks an object, which takes as long as checking two hundred without it. */
export const UNCOMPILED: z.core.ParseContext<z.core.$ZodIssue> = { jitless: true }

/** zod's own option to stop at a problem; its type does not show it. */
const EARLY = { abortEarly: true } as z.core.ParseContext<z.core.$ZodIssue>

function isWithin(value: unknown, most: number): boolean {
  let left = most
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next !== 'object' || next === null) continue
    const members = Array.isArray(next) ? next : Object.values(next)
    left -= members.length
    if (left < 0) return false
    for (const member of members) pending.push(member)
  }
  return true
}

/**
 * Converts the issues of zod, with pointers below `at`: the first 100, and how many more. A schema may name the item of an
 * issue in `params.custom_id`.
 */
export function zodIssues(error: z.ZodError, at: string): IssueList {
  const found = new IssueList()
  for (const issue of error.issues) {
    const where = at + pointer(...issue.path)
    if (issue.code !== 'unrecognized_keys') found.push(issueOf(issue, where))
    else {
      const details = issue.message.split('\n')
      for (const [n, key] of issue.keys.entries())
        found.push({ pointer: where + pointer(key), detail: details[n] ?? 'is not a known field' })
    }
  }
  return found
}

/** Types that zod has and JSON has not, in the words of JSON Schema. */
const TYPES: Readonly<Record<string, string>> = { int: 'integer', record: 'object' }

function issueOf(issue: z.core.$ZodIssue, where: string): Issue {
  // Only zod's own message is replaced, not one that a schema sets.
  const received = issue.code === 'invalid_type' ? /received (\w+)$/.exec(issue.message)?.[1] : undefined
  if (issue.code === 'invalid_type' && received !== undefined) {
    const type = TYPES[issue.expected] ?? issue.expected
    const detail = received === 'undefined' ? REQUIRED : `must be of the type ${type}, not ${received}`
    return { pointer: where, detail }
  }
  const { params } = issue.code === 'custom' ? issue : {}
  const remainder = params?.remainder as Issue | undefined
  if (remainder !== undefined) return remainder
  const item = params?.custom_id
  return { pointer: where, detail: issue.message, ...(typeof item === 'string' ? { custom_id: item } : {}) }
}

/** Reports issues of a check that is no schema of zod from a refinement, below `at`. */
export function reportIn(
  context: z.RefinementCtx,
  issues: readonly Issue[],
  at: readonly PropertyKey[] = [],
): void {
  for (const issue of issues) {
    const { pointer, detail } = issue
    const params = isRemainder(issue) ? { remainder: issue } : {}
    context.addIssue({ code: 'custom', path: [...at, ...keysOf(pointer)], message: detail, params })
  }
}
