import * as z from 'zod'
import { type Issue, pointer } from './json.ts'
import { counted } from './words.ts'

/** The message for a missing field. */
export const REQUIRED = 'is required'

// zod has one message for a missing choice and for a wrong one. A message that a schema sets takes precedence over these.
z.config({
  customError: (issue) => {
    if (issue.code === 'too_small' || issue.code === 'too_big') return outOfBounds(issue)
    if (issue.code !== 'invalid_value') return undefined
    if (issue.input === undefined) return REQUIRED
    const values = issue.values.map((value) => JSON.stringify(value))
    return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
  },
})

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

/** Converts the issues of zod, with pointers below `at`. A schema may name the item of an issue in `params.custom_id`. */
export function zodIssues(error: z.ZodError, at: string): Issue[] {
  return error.issues.flatMap((issue) => {
    const where = at + pointer(...issue.path)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ pointer: where + pointer(key), detail: 'is not a known field' }))
    }
    // Only zod's own message is replaced, not one that a schema sets.
    const received = issue.code === 'invalid_type' ? /received (\w+)$/.exec(issue.message)?.[1] : undefined
    if (issue.code === 'invalid_type' && received !== undefined) {
      const detail =
        received === 'undefined' ? REQUIRED : `must be of the type ${issue.expected}, not ${received}`
      return [{ pointer: where, detail }]
    }
    const item = issue.code === 'custom' ? issue.params?.custom_id : undefined
    return [
      { pointer: where, detail: issue.message, ...(typeof item === 'string' ? { custom_id: item } : {}) },
    ]
  })
}
