import { basename, dirname, join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { hostTime } from '../../kernel/time/clock.ts'
import { NAME_PATTERN } from '../../kernel/worlds/names.ts'
import type { Files } from './files.ts'

let made = 0

/** A name that no other process or thread uses at this time. */
export function uniqueName(): string {
  made += 1
  return `${process.pid}-${threadId}-${hostTime().toString(36)}-${made.toString(36)}`
}

/** A name beside a file for something that takes the file's place when it is whole. Leftovers are removed at the next start. */
export function temporary(path: string): string {
  return `${path}.${uniqueName()}.tmp`
}

/** The name under which something is kept beside a file: the first `<file>.<word>-<n>` that is free. */
export function keptName(files: Files, path: string, word: string): string {
  for (let n = 1; ; n++) {
    const name = `${path}.${word}-${n}`
    if (files.stat(name) === undefined) return name
  }
}

/** The full paths beside a file whose names start with the file's own. */
export function siblings(files: Files, path: string): string[] {
  const directory = dirname(path)
  return files
    .list(directory)
    .filter((name) => name.startsWith(`${basename(path)}.`))
    .map((name) => join(directory, name))
}

/** The names of the worlds whose state files are in a folder; none when there is no such folder. */
export function savedWorlds(files: Files, directory: string): string[] {
  if (files.stat(directory) === undefined) return []
  return files
    .list(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter((name) => NAME_PATTERN.test(name))
    .sort()
}
