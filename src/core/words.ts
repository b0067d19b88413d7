/** A number of things in words: `1 event`, `3 events`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A text that ends like a sentence: one full stop, even if a message that it quotes already has one. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** The maximum length of one text: pointers, details and values may quote a text of any length from a client. */
const MAX_CHARACTERS = 1_000

/** The first 1,000 characters of a text, with its full length when it is longer. */
export function truncated(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text
  // Copied through a buffer, because a substring would keep the whole string in memory.
  const part = Buffer.from(text.slice(0, MAX_CHARACTERS)).toString()
  return `${part} \u2026 (${text.length} characters)`
}
