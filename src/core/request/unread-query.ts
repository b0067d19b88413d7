import { z } from 'zod'
import type { Settings } from '../assumptions.ts'
import { didYouMean } from '../did-you-mean.ts'
import { type AnyOperation, inputOf } from '../operation.ts'
import { truncated } from '../words.ts'
import type { Call } from './exchange.ts'

/** A query parameter that nothing reads. */
export const unreadParameter = () =>
  z.strictObject({
    name: z.string(),
    /** A sentence, with the nearest parameter that the operation reads. */
    description: z.string(),
  })

/** Maximum number of parameters that are named for one request. */
const MAX_NAMED = 100

/** The query parameters that an operation does not read: the real service may read them, or they are mistyped. */
export function unreadParameters(operation: AnyOperation, settings: Settings, query: Call['query']) {
  // The functions of a stub and of an endpoint of the user get the whole query.
  if (operation.stub !== undefined || operation.place !== undefined) return []
  const schema = inputOf(operation, settings).query
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const unread = Object.keys(query).filter((name) => !known.includes(name))
  return unread.slice(0, MAX_NAMED).map((name) => ({
    name: truncated(name),
    description: `Nothing reads the query parameter "${truncated(name)}" of ${operation.name}.${didYouMean(name, known)}`,
  }))
}
