/** Characters of one text that are kept: pointers, details and values quote what a client chose, however long. */
const MOST_CHARACTERS = 1_000

/** The beginning of a text that a client may have made as long as it likes. */
export function cut(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text
  // Through a buffer, since a part of a string keeps the whole of it alive.
  const part = Buffer.from(text.slice(0, MOST_CHARACTERS)).toString()
  return `${part} … (${text.length} characters)`
}
