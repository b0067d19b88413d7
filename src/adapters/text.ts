import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { lineAndColumn } from '../core/json-text.ts'

/** The first bytes of files that are no UTF-8 text, in hexadecimal digits, and what the files are. The first match counts. */
const KINDS: readonly (readonly [first: RegExp, kind: string])[] = [
  [/^(fffe0000|0000feff)/, 'UTF-32'],
  // Also without a byte order mark: the first character is an ASCII one.
  [/^(fffe|feff|(?!00)..00|00(?!00))/, 'UTF-16'],
  [/^1f8b/, 'compressed by gzip'],
  [/^28b52ffd/, 'compressed by zstd'],
  [/^fd377a585a/, 'compressed by xz'],
  [/^425a68..3141/, 'compressed by bzip2'],
  [/^504b0304/, 'a zip archive'],
]

/** A file whose bytes are not UTF-8 text. The message says what they are, and the way out. */
export class UnreadableText extends Error {}

/** The text of bytes that a user can give, without a byte order mark. Throws {@link UnreadableText}. */
export function decodedText(bytes: Buffer): string {
  const first = bytes.toString('hex', 0, 8)
  const kind = KINDS.find(([expression]) => expression.test(first))?.[1]
  if (kind !== undefined) {
    const way = kind.startsWith('UTF') ? 'save it as UTF-8' : 'unpack it first'
    throw new UnreadableText(`is ${kind}, not UTF-8 text; ${way}`)
  }
  const text = bytes.toString().replace(/^\uFEFF/, '')
  if (isUtf8(bytes)) return text
  const { line } = lineAndColumn(text, text.indexOf('\uFFFD'))
  throw new UnreadableText(`has bytes in line ${line} that are not UTF-8; save it as UTF-8`)
}

/** Reads a text file that a user can give. Throws {@link UnreadableText} and the errors of `readFileSync`. */
export function readTextFile(file: string): string {
  return decodedText(readFileSync(file))
}
