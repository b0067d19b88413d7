import * as z from 'zod'
import { isObject } from '../json.ts'
import type { HeaderList } from '../request/headers.ts'
import { END_OF_TIME } from '../time/clock.ts'
import { formatInstant, parseInstant } from '../time/instant.ts'

/**
 * The times of a response, moved by some milliseconds: the values that a schema declares as timestamps, and headers.
 * Values that a client chose keep what they say, whatever they look like.
 */
export function skewedBody(schema: z.ZodType | undefined, value: unknown, shift: number): unknown {
  if (schema === undefined) return value
  if (z.globalRegistry.get(schema)?.format === 'date-time')
    return typeof value === 'string' ? skewedText(value, shift) : value
  if (schema instanceof z.ZodObject && isObject(value)) {
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, each]) => [key, skewedBody(schema.shape[key], each, shift)]))
  }
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((each) => skewedBody(schema.element as z.ZodType, each, shift))
  return hasInner(schema) ? skewedBody(schema.unwrap() as z.ZodType, value, shift) : value
}

function hasInner(schema: z.ZodType): schema is z.ZodOptional | z.ZodNullable | z.ZodDefault {
  return (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  )
}

function skewedText(text: string, shift: number): string {
  const instant = parseInstant(text)
  return instant === undefined ? text : formatInstant(within(instant.ms + shift))
}

/** X-RateLimit-Reset, and a Retry-After that is a date; one in seconds is a length of time. */
export function skewedHeaders(headers: HeaderList, shift: number): HeaderList {
  return headers.map(([name, value]) => {
    const lower = name.toLowerCase()
    if (lower === 'x-ratelimit-reset' && /^\d+$/.test(value))
      return [name, String(Math.max(0, Number(value) + Math.round(shift / 1000)))]
    const isDate = lower === 'retry-after' && /[a-z]/i.test(value) && !Number.isNaN(Date.parse(value))
    return isDate ? [name, new Date(within(Date.parse(value) + shift)).toUTCString()] : [name, value]
  })
}

/** Years have four digits in a timestamp and in a date. */
export function within(ms: number): number {
  return Math.min(END_OF_TIME, Math.max(0, ms))
}
