// Text of requests, files and other programs, written so that it stays text: one function for each language.
// `shellWord` is the one for shells.

// Control characters, ends of lines, and the characters that change the direction of the text after them.
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** One line with control characters escaped: a path or a name may hold any character. */
export function printable(line: string): string {
  return line.replaceAll(CONTROL, (character) => {
    const quoted = JSON.stringify(character).slice(1, -1)
    // JSON escapes only the first 32 characters.
    return quoted === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : quoted
  })
}

/** A text of several lines with control characters escaped. JSON keeps its value. */
export function harmless(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** A JSON value as source text on one line. It means the same in JavaScript; that of a string also in Python and Go. */
export function literal(value: unknown): string {
  return printable(JSON.stringify(value))
}

/** A comment on one line of JavaScript. */
export function comment(text: string): string {
  return `// ${printable(text)}`
}

/** A code span of Markdown. */
export function codeSpan(text: string): string {
  return text === '' ? '' : `\`${printable(text).replaceAll('`', "'")}\``
}

/** A code span in a cell of a table. A bar ends a cell, also within the span, unless it is escaped. */
export function codeCell(text: string): string {
  return codeSpan(text).replaceAll('|', '\\|')
}

/** Words of Markdown, also in a cell of a table. An address is no link: its emulator may have ended. */
export function plainMarkdown(text: string): string {
  return printable(text).replaceAll(/[|<>`*_[\]\\&~]|:(?=\/\/)/g, '\\$&')
}

/** A message for the page of a GitHub workflow. */
export function annotation(level: 'error' | 'notice', title: string, lines: readonly string[]): string {
  const property = encoded(printable(title)).replaceAll(':', '%3A').replaceAll(',', '%2C')
  return `::${level} title=${property}::${encoded(lines.map(printable).join('\n'))}`
}

function encoded(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
