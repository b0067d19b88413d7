import { z } from 'zod'
import { mapOf } from '../strict-input.ts'

/** Headers in the order in which they are sent. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** A list with some headers set. Each replaces all headers with the same name, in any letter case. */
export function withHeaders(list: HeaderList, set: HeaderList): HeaderList {
  if (set.length === 0) return list
  const names = new Set(set.map(([name]) => name.toLowerCase()))
  return [...list.filter(([name]) => !names.has(name.toLowerCase())), ...set]
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/

const MAX_VALUE_LENGTH = 8_000

/** A value of a header that the server can write. */
export function headerValue(): z.ZodType<string> {
  return z.string().refine((value) => /^[\t\x20-\x7e\x80-\xff]{0,8000}$/.test(value), {
    error: `must have at most ${MAX_VALUE_LENGTH} characters of Latin-1, none of them a control character`,
  })
}

/** Headers by name that the server can write. @param problemOf the problem of a valid name, if there is one */
export function responseHeaders(problemOf: (name: string) => string | undefined = () => undefined) {
  return mapOf(headerValue(), (name) => (NAME.test(name) ? problemOf(name) : 'is not a valid header name'))
}
