/** A longer prompt is kept as an excerpt of this many UTF-16 units and a note of its length. */
export const LONGEST_KEPT_PROMPT = 65_536

/**
 * What a batch keeps of its prompt. No model ever reads it and no answer shows it, so that 100 MiB of it need not stay in
 * memory, in the state file and in its log.
 */
export function excerpt(prompt: string): string {
  if (prompt.length <= LONGEST_KEPT_PROMPT) return prompt
  // A mere slice would keep the whole prompt alive behind it.
  const start = Buffer.from(prompt.slice(0, LONGEST_KEPT_PROMPT), 'utf16le').toString('utf16le')
  return `${start}... (${prompt.length} characters)`
}
