import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { lineAndColumn } from '../core/json-text.ts'

/** The first bytes of files that are no UTF-8 text, in hexadecimal digits, and what to do. */
const KINDS: readonly (readonly [first: RegExp, problem: string])[] = [
  // Also without a byte order mark: the first character is an ASCII one.
  [/^(fffe|feff|(?!00)..00|00(?!00))/, 'is UTF-16, not UTF-8 text; save it as UTF-8'],
  [/^(1f8b|28b52ffd|fd377a585a|425a68..31)/, 'is compressed (gzip, zstd, xz or bzip2); unpack it first'],
  [/^504b0304/, 'is a zip archive; unpack it first'],
]

/** A file whose bytes are not UTF-8 text. The message says what they are, and the way out. */
export class UnreadableText extends Error {}

/** Bytes of the largest file that is read: a string of Node has at most 512 MiB, and its JSON takes several times as much memory. */
export const MAX_FILE = 268_435_456

/** The bytes of a file that a user can give, and the errors of `readFileSync`. @param fail throws the error of the caller */
export function fileBytes(file: string, fail: (problem: string) => never): Buffer {
  const { size } = statSync(file)
  return size > MAX_FILE
    ? fail(`has ${size} bytes, more than the ${MAX_FILE} that are read; split it`)
    : readFileSync(file)
}

/** The text of bytes that a user can give, without a byte order mark. @param fail throws the error of the caller */
export function decodedText(bytes: Buffer, fail: (problem: string) => never): string {
  const first = bytes.toString('hex', 0, 8)
  const problem = KINDS.find(([expression]) => expression.test(first))?.[1]
  if (problem !== undefined) return fail(problem)
  const text = bytes.toString().replace(/^\uFEFF/, '')
  if (isUtf8(bytes)) return text
  const { line } = lineAndColumn(text, text.search(/\uFFFD/))
  return fail(`has bytes in line ${line} that are not UTF-8; save it as UTF-8`)
}

/** Reads a text file that a user can give. Throws {@link UnreadableText} and the errors of `readFileSync`. */
export function readTextFile(file: string): string {
  const fail = (problem: string): never => {
    throw new UnreadableText(problem)
  }
  return decodedText(fileBytes(file, fail), fail)
}
