import { createHash } from 'node:crypto'
import type { Document } from '../../core/state/state.ts'
import { elapsedTime } from '../../core/time/clock.ts'
import { type FileStat, type Files, writeAllSoon } from './files.ts'
import { temporary } from './names.ts'

/** Characters that are collected before they are written: less than a millisecond of work, once the code is optimized. */
const PIECE = 64 * 1024
/** Maximum real milliseconds of collecting before a write. In the first checkpoint, {@link PIECE} characters can take ten. */
const MAX_MS = 3
/** Bytes that are hashed or written at most in one turn of the event loop. */
const SLICE = 1024 * 1024

/** The last line of a document on the disk: the SHA-256 of everything before it. */
const LAST_LINE = /^ {2}"digest": "([0-9a-f]{64})"\n}\n$/
const LAST_BYTES = Buffer.byteLength(lastLine('0'.repeat(64)))

/**
 * The bytes of a document with its digest, in pieces. @returns the SHA-256 of all of them, in hexadecimal digits
 * @param elapsed real milliseconds; for tests
 */
export function* documentBytes(document: Document, elapsed = elapsedTime): Generator<Uint8Array, string> {
  const hash = createHash('sha256')
  let text = ''
  let begun = elapsed()
  function* flush(): Generator<Uint8Array> {
    const bytes = Buffer.from(text)
    text = ''
    for (let start = 0; start < bytes.length; start += SLICE) {
      const slice = bytes.subarray(start, start + SLICE)
      hash.update(slice)
      yield slice
    }
    begun = elapsed()
  }
  for (const piece of documentPieces(document)) {
    text += piece
    if (text.length >= PIECE || elapsed() - begun >= MAX_MS) yield* flush()
  }
  text += ',\n'
  yield* flush()
  text = lastLine(hash.copy().digest('hex'))
  yield* flush()
  return hash.digest('hex')
}

/** The SHA-256 of a state file, and whether it matches its own digest: then it is an unedited checkpoint. */
export function digestOf(bytes: Uint8Array): { readonly sha256: string; readonly isUnedited: boolean } {
  const last = bytes.subarray(Math.max(0, bytes.length - LAST_BYTES))
  const hash = createHash('sha256').update(bytes.subarray(0, bytes.length - last.length))
  const [, digest] = LAST_LINE.exec(Buffer.from(last).toString('latin1')) ?? []
  const isUnedited = digest !== undefined && hash.copy().digest('hex') === digest
  return { sha256: hash.update(last).digest('hex'), isUnedited }
}

function lastLine(digest: string): string {
  return `  "digest": "${digest}"\n}\n`
}

/**
 * Writes a document into an empty file record by record, so that the event loop turns while a large one is written.
 * @param proceed called before each piece; throws when the rest is not needed any more
 * @returns the SHA-256 of the bytes, in hexadecimal digits
 */
export async function writeDocument(
  files: Files,
  file: number,
  document: Document,
  proceed: () => void = () => {},
): Promise<string> {
  const pieces = documentBytes(document)
  let [next, at] = [pieces.next(), 0]
  for (; next.done !== true; next = pieces.next()) {
    proceed()
    await writeAllSoon(files, file, next.value, at)
    at += next.value.length
  }
  return next.value
}

/** The whole document as it is written to a file. */
export function bytesOf(document: Document): Buffer {
  return Buffer.concat([...documentBytes(document)])
}

/** Writes a document to a path, completely or not at all: into a temporary file, which is synced and renamed. */
export async function placeDocument(files: Files, path: string, document: Document): Promise<FileStat> {
  const beside = temporary(path)
  const file = files.open(beside, 'wx')
  try {
    await writeDocument(files, file, document)
    await files.sync(file)
    files.rename(beside, path)
    const stat = files.statOf(file)
    await files.syncDirectory(path)
    return stat
  } catch (error) {
    discard(files, beside)
    throw error
  } finally {
    files.close(file)
  }
}

// The caller reports the failure. A temporary file that stays is removed at the next start.
function discard(files: Files, path: string): void {
  try {
    files.remove(path)
  } catch {}
}

/** Arrays with more items are written item by item, each on one line, so that no piece grows with the array. */
const LONG = 64
/** Approximate characters of such lines in one piece. */
const LINES = 1024
/** Maximum records in one piece. */
const TOGETHER = 16
/** A record with a longer text, in characters, is a piece of its own. */
const LONG_TEXT = 4096

/** Levels that are always written entry by entry: the document, `collections`, and each collection. */
const OPEN_LEVELS = 3

/**
 * A document as readable JSON, in pieces of about one record, without its final `\n}`. The layout is that of
 * `JSON.stringify(value, null, 2)`, except for the items of long arrays. The object must have at least one field.
 */
export function* documentPieces(value: object): Generator<string> {
  yield* openFields(value, '', 0)
}

function* pieces(value: unknown, indent: string, level: number): Generator<string> {
  if (!isOpened(value, level)) yield whole(value, indent)
  else if (Array.isArray(value)) yield* items(value, indent, level)
  else yield* fields(value, indent, level)
}

function* items(array: readonly unknown[], indent: string, level: number): Generator<string> {
  if (array.length === 0) yield '[]'
  else yield* level === OPEN_LEVELS - 1 ? records(array, indent, level) : lines(array, indent, level)
}

function* records(array: readonly unknown[], indent: string, level: number): Generator<string> {
  let before = '['
  for (let start = 0; start < array.length; ) {
    let end = start
    while (end < array.length && end - start < TOGETHER && !isLarge(array[end])) end += 1
    if (end > start) yield before + together(array.slice(start, end))
    else {
      yield `${before}\n${indent}  `
      yield* pieces(array[start], `${indent}  `, level + 1)
      end += 1
    }
    start = end
    before = ','
  }
  yield `\n${indent}]`
}

// One call for several records takes half the time of a call for each. The arrays around them give them their indentation.
function together(records: readonly unknown[]): string {
  const text = JSON.stringify([[records]], null, 2)
  return text.slice('[\n  [\n    ['.length, -'\n    ]\n  ]\n]'.length)
}

function* lines(array: readonly unknown[], indent: string, level: number): Generator<string> {
  const inner = `\n${indent}  `
  let text = '['
  for (const [index, each] of array.entries()) {
    const item = each === undefined ? null : each
    text += index === 0 ? inner : `,${inner}`
    // A batch may have thousands of items. With indentation they take twice as long to write.
    if (!isOpened(item, level + 1)) text += JSON.stringify(item)
    else {
      yield text
      text = ''
      yield* pieces(item, `${indent}  `, level + 1)
    }
    if (text.length < LINES) continue
    yield text
    text = ''
  }
  yield `${text}\n${indent}]`
}

function* fields(object: object, indent: string, level: number): Generator<string> {
  const hasSome = yield* openFields(object, indent, level)
  yield hasSome ? `\n${indent}}` : '{}'
}

function* openFields(object: object, indent: string, level: number): Generator<string, boolean> {
  const inner = `${indent}  `
  let before = '{\n'
  for (const [key, field] of Object.entries(object)) {
    if (field === undefined) continue
    yield `${before}${inner}${JSON.stringify(key)}: `
    yield* pieces(field, inner, level + 1)
    before = ',\n'
  }
  return before !== '{\n'
}

function isOpened(value: unknown, level: number): value is object {
  return level < OPEN_LEVELS ? typeof value === 'object' && value !== null : hasLong(value)
}

function hasLong(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length > LONG || value.some(hasLong)
  for (const key in value) if (hasLong((value as Record<string, unknown>)[key])) return true
  return false
}

/** Whether a record has a long text, or many values in one object or array: a piece with other records could take long. */
function isLarge(value: unknown): boolean {
  if (typeof value === 'string') return value.length > LONG_TEXT
  if (typeof value !== 'object' || value === null) return false
  const values = Object.values(value)
  return values.length > LONG || values.some(isLarge)
}

// A newline in this text is always between fields: within strings JSON escapes it.
function whole(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
}
