import * as z from 'zod'
import { mapOf } from '../../../core/strict-input.ts'

/** Characters of one text of a rule: about as much as one call of the control interface carries. */
const MAX_TEXT_LENGTH = 1_000_000

/** A text of any kind, within the bounds of a rule. */
export function anyText(): z.ZodType<string> {
  return z.string().max(MAX_TEXT_LENGTH, { error: `must have at most ${MAX_TEXT_LENGTH} characters` })
}

/** Bytes, in base64 with or without padding. */
export function base64(): z.ZodType<string> {
  return anyText().refine(isBase64, { error: 'must be base64, with the alphabet that has + and /' })
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1
}

/** What is written to the connection as it is: everything but what would end the line. */
export function lineText(): z.ZodType<string> {
  return z.string().refine((text) => text.length <= MAX_VALUE_LENGTH && !/[\r\n]/.test(text), {
    error: `must have at most ${MAX_VALUE_LENGTH} characters and no line break; for anything else there is raw`,
  })
}

/** A name that ends where it should. */
export function lineName(): z.ZodType<string> {
  return z.string().refine(isLineName, { error: BAD_LINE_NAME })
}

/** Headers by name, written to the connection as they are. */
export function lineHeaders(): z.ZodType<Readonly<Record<string, string>>, Readonly<Record<string, string>>> {
  return mapOf(lineText(), (name) => (isLineName(name) ? undefined : BAD_LINE_NAME))
}

const BAD_LINE_NAME =
  'must have 1 to 200 characters, no colon and no line break; for anything else there is raw'

function isLineName(name: string): boolean {
  return /^[^:\r\n]{1,200}$/.test(name)
}

const MAX_VALUE_LENGTH = 8_000
