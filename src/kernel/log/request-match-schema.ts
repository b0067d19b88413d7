import * as z from 'zod'
import { someOf } from '../strict-input.ts'
import type { CallerMatch } from './request-match.ts'
import { requestMembers } from './request-match-members.ts'

/** A status such as 429, a class such as `4xx`, or 0 for what was cut off before there was an answer. */
export const STATUS_PATTERN = /^(0|[1-5](\d\d|xx))$/

const STATUS = { error: 'must be a status such as 429, a class such as "4xx", or 0 for no answer' }

/** The schema of a `RequestMatch` (`request-match.ts`) over a service's operations. `more`: members beside those of every match. */
export function matchSchema<M extends z.ZodRawShape>(operations: Iterable<string>, more: M) {
  return someOf({
    ...requestMembers([...operations]),
    status: status().optional(),
    caller: callerMatch().optional(),
    ...more,
  })
}

function status() {
  const number = z.int(STATUS).refine((value) => value === 0 || (value >= 100 && value <= 599), STATUS)
  return z.union([number, z.string(STATUS).regex(STATUS_PATTERN, STATUS)], STATUS)
}

function callerMatch(): z.ZodType<CallerMatch, CallerMatch> {
  return someOf({
    kind: z.enum(['user', 'service']).optional(),
    user_id: z.string().optional(),
    key_id: z.string().optional(),
  })
}
