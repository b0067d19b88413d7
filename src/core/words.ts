/** A number of things in words: `1 event`, `3 events`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Characters of one text that are kept: pointers, details and values quote what a client chose, however long. */
const MAX_CHARACTERS = 1_000

/** The beginning of a text that a client may have made as long as it likes. */
export function truncated(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text
  // Through a buffer, since a part of a string keeps the whole of it alive.
  const part = Buffer.from(text.slice(0, MAX_CHARACTERS)).toString()
  return `${part} … (${text.length} characters)`
}
