import type { Spot } from '../cursor-page.ts'

const FORM = /^v1:(0|[1-9]\d{0,14})$/

/**
 * The cursor of the row at a position of the result set, counted from 0. It says nothing about the row itself: rows
 * written between two pages shift the window. Specification: List consumption breakdown.
 */
export function toCursor(position: number): string {
  return Buffer.from(`v1:${position}`).toString('base64url')
}

/** Where a cursor stands; undefined for a text that is no cursor of ours. It may lie beyond the end of the list. */
export function fromCursor(cursor: string): Spot | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, digits] = FORM.exec(text) ?? []
  if (digits === undefined) return undefined
  const start = Number(digits)
  // Decoding overlooks characters that do not belong to the alphabet; only the cursor as it was given is one.
  return toCursor(start) === cursor ? { start, end: start + 1 } : undefined
}
