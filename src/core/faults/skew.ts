import { z } from 'zod'
import { isObject } from '../json.ts'
import type { HeaderList } from '../request/headers.ts'
import { END_OF_TIME, START_OF_TIME } from '../time/clock.ts'
import { formatInstant, parseInstant } from '../time/instant.ts'

/**
 * Shifts the times in a body by `shift` milliseconds: the values that its schema declares as timestamps. Values that a client
 * chose do not change, even if they look like timestamps.
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
  // Schemas that may be absent or null, and those with a default.
  return 'unwrap' in schema ? skewedBody((schema as z.ZodOptional<z.ZodType>).unwrap(), value, shift) : value
}

function skewedText(text: string, shift: number): string {
  const instant = parseInstant(text)
  return instant === undefined ? text : formatInstant(within(instant.ms + shift))
}

/** Shifts X-RateLimit-Reset, and Retry-After if it is a date: in seconds it is a duration. */
export function skewedHeaders(headers: HeaderList, shift: number): HeaderList {
  return headers.map(([name, value]) => {
    const lower = name.toLowerCase()
    if (lower === 'x-ratelimit-reset' && /^\d+$/.test(value))
      return [name, String(Math.max(0, Number(value) + Math.round(shift / 1000)))]
    const isDate = lower === 'retry-after' && /[a-z]/i.test(value) && !Number.isNaN(Date.parse(value))
    return isDate ? [name, new Date(within(Date.parse(value) + shift)).toUTCString()] : [name, value]
  })
}

/** Limits an instant to the bounds of the clock: years have four digits in timestamps and in HTTP dates. */
export function within(ms: number): number {
  return Math.min(END_OF_TIME, Math.max(START_OF_TIME, ms))
}
