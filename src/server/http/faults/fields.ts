import { z } from 'zod'
import { mapOf } from '../../../core/strict-input.ts'

/** Maximum characters of one text of a rule: about the most that one call of the control interface can carry. */
const MAX_TEXT_LENGTH = 1_000_000

/** Any text of at most 1,000,000 characters. */
export function anyText(): z.ZodType<string> {
  return z.string().max(MAX_TEXT_LENGTH, { error: `must have at most ${MAX_TEXT_LENGTH} characters` })
}

/** Bytes, in base64 with or without padding. */
export function base64(): z.ZodType<string> {
  const isBase64 = (text: string) =>
    /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1
  return anyText().refine(isBase64, { error: 'must be base64 with the standard alphabet (+ and /)' })
}

/** A text that is written unchanged into one line of the head: at most 8,000 characters, no line break. */
export function lineText(): z.ZodType<string> {
  return z.string().refine((text) => text.length <= MAX_VALUE_LENGTH && !/[\r\n]/.test(text), {
    error: `must have at most ${MAX_VALUE_LENGTH} characters and no line break; for anything else use raw`,
  })
}

/** The name of a header: 1 to 200 characters, no colon and no line break. Other invalid characters are allowed. */
export function lineName(): z.ZodType<string> {
  return z.string().refine(isLineName, { error: BAD_LINE_NAME })
}

/** Headers by name, written to the connection unchanged. */
export function lineHeaders(): z.ZodType<Readonly<Record<string, string>>, Readonly<Record<string, string>>> {
  return mapOf(lineText(), (name) => (isLineName(name) ? undefined : BAD_LINE_NAME))
}

const BAD_LINE_NAME = 'must have 1 to 200 characters, no colon and no line break; for anything else use raw'

function isLineName(name: string): boolean {
  return /^[^:\r\n]{1,200}$/.test(name)
}

const MAX_VALUE_LENGTH = 8_000
