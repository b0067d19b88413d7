import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Json } from '../../src/core/json.ts'
import { folder, type Opened, type OpenOptions, open } from './disk-emulator.ts'

// biome-ignore lint/suspicious/noExplicitAny: the tests reach into documents of every shape, also wrong ones.
export type Loose = any

export interface Edited extends Opened {
  readonly file: string
  /** Reads and parses the file. */
  readonly read: () => Loose
  /** Saves the file in place, as an editor does. */
  readonly edit: (change: (document: Loose) => void) => void
  readonly save: (text: string) => void
}

export async function opened(options: OpenOptions = {}): Promise<Edited> {
  const file = join(folder(onTestFinished), 'sandbox.json')
  const result = await open(file, { start: { a: 'one', b: 'two', c: 'three' }, ...options })
  onTestFinished(() => result.persistence.close())
  const read = (): Loose => JSON.parse(readFileSync(file, 'utf8'))
  const save = (text: string): void => writeFileSync(file, text)
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
