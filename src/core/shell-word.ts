const PLAIN = /^[\w./:=@%+-]+$/

// What a terminal would act on when a command is pasted, and what would end or change a word in $'...'.
const ESCAPED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}'\\!]/gu

/** A text as one word of a POSIX shell; with control characters, of bash, zsh and the newer ones. It loses a NUL, which no argument can have. */
export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text
  const word = text.replaceAll('\0', '')
  if (!/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(word)) return `'${word.replaceAll("'", "'\\''")}'`
  const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`
  return `$'${word.replaceAll(ESCAPED, (each) => [...new TextEncoder().encode(each)].map(octal).join(''))}'`
}
