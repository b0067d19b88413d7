import { codePoints } from '../../kernel/fields.ts'
import { isObject } from '../../kernel/json.ts'
import type { Complain } from './items.ts'

/** What a client keeps with a batch. Its keys are caller strings: `__proto__` is as good a key as any other. */
export type Metadata = Readonly<Record<string, string>>

/** Specification: Limits / Batch predictions. */
export const MOST_METADATA = 16
export const LONGEST_KEY = 64
export const LONGEST_VALUE = 512

/** Checks a map of strings against its bounds and complains of everything that is wrong with it. */
export function checkMetadata(value: unknown, complain: Complain): value is Metadata {
  if (!isObject(value)) {
    complain([], 'must be an object whose values are strings')
    return false
  }
  const entries = Object.entries(value)
  if (entries.length > MOST_METADATA) {
    complain([], `must have at most ${MOST_METADATA} entries, and has ${entries.length}`)
  }
  for (const [key, text] of entries) {
    if (codePoints(key) > LONGEST_KEY) {
      complain([key], `the key must have at most ${LONGEST_KEY} characters (Unicode code points)`)
    }
    if (typeof text !== 'string') complain([key], 'must be a string')
    else if (codePoints(text) > LONGEST_VALUE) {
      complain([key], `must have at most ${LONGEST_VALUE} characters (Unicode code points)`)
    }
  }
  return true
}
