import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Json } from '../../src/core/json.ts'
import { folder, type OpenOptions } from './disk-emulator.ts'
import { opened as openedFile } from './state-files.ts'

// biome-ignore lint/suspicious/noExplicitAny: the tests reach into documents of every shape, also wrong ones.
export type Loose = any

export type Edited = Awaited<ReturnType<typeof opened>>

export async function opened(options: OpenOptions = {}) {
  const file = join(folder(onTestFinished), 'sandbox.json')
  const result = await openedFile(file, { start: { a: 'one', b: 'two', c: 'three' }, ...options })
  const read = (): Loose => JSON.parse(readFileSync(file, 'utf8'))
  const save = (text: string): void => writeFileSync(file, text)
  /** Saves the file in place, as an editor does. */
  const edit = (change: (document: Loose) => void): void => {
    const document = read()
    change(document)
    save(JSON.stringify(document, null, 2))
  }
  return { ...result, file, read, edit, save }
}

export function note(document: Loose, id: string): { text: Json } {
  return document.collections.notes.find((each: { id: string }) => each.id === id)
}
