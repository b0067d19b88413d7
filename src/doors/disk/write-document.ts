import { createHash } from 'node:crypto'
import type { Document } from '../../kernel/state/state.ts'
import { type FileStat, type Files, writeAllSoon } from './files.ts'
import { temporary } from './names.ts'
import { prettyPieces } from './pretty.ts'

/** Bytes that are gathered before they are written: below a millisecond of work. */
const PIECE = 64 * 1024

/**
 * Writes a document into an empty file record by record, so that the event loop turns while a large one is on its way.
 * @returns the SHA-256 of the bytes, in hexadecimal digits
 */
export async function writeDocument(files: Files, file: number, document: Document): Promise<string> {
  const digest = createHash('sha256')
  let [text, at] = ['', 0]
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(text)
    text = ''
    await writeAllSoon(files, file, bytes, at, (slice) => digest.update(slice))
    at += bytes.length
  }
  for (const piece of prettyPieces(document)) {
    text += piece
    if (text.length >= PIECE) await flush()
  }
  await flush()
  return digest.digest('hex')
}

/** Gives a path this document, whole or not at all: written beside it, brought onto the disk, and put in its place. */
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

// What has failed is said by the caller; a temporary file that stays behind is removed at the next start.
function discard(files: Files, path: string): void {
  try {
    files.remove(path)
  } catch {}
}
