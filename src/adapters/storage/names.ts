import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { threadId } from 'node:worker_threads'
import { NAME_PATTERN } from '../../core/sandboxes/name.ts'
import { hostTime } from '../../core/time/clock.ts'
import { create, type Files, hasCode } from './files.ts'

let made = 0

/** A name that no other process or thread uses at this time. */
function uniqueName(): string {
  made += 1
  return `${process.pid}-${threadId}-${hostTime().toString(36)}-${made.toString(36)}`
}

/** A name for a file that will replace another one when it is complete. Leftover files are removed at the next start. */
export function temporary(path: string): string {
  return `${path}.${uniqueName()}.tmp`
}

/** The journal of a state file. */
export function journalOf(path: string): string {
  return `${path}.journal`
}

/** The checkpoint before the last one. */
export function previousOf(path: string): string {
  return `${path}.previous`
}

/** A name to keep content next to a file: the first `<file>.<word>-<n>` that is free, from 1. */
export function keptName(files: Files, path: string, word: string): string {
  for (let n = 1; ; n++) {
    const name = `${path}.${word}-${n}`
    if (files.stat(name) === undefined) return name
  }
}

/** Keeps these bytes next to a file, under the first such name that is free or already has the same bytes. @returns the name */
export function keepBytes(files: Files, path: string, word: string, bytes: Uint8Array): string {
  for (let n = 1; ; n++) {
    const name = `${path}.${word}-${n}`
    const there = files.read(name)
    if (there?.equals(bytes) === true) return name
    if (there !== undefined) continue
    create(files, name, bytes)
    return name
  }
}

/** The full paths in the folder of a file whose names start with `<file>.`. */
export function siblings(files: Files, path: string): string[] {
  const directory = dirname(path)
  return files
    .list(directory)
    .filter((name) => name.startsWith(`${basename(path)}.`))
    .map((name) => join(directory, name))
}

/** The files of the generations of a journal before the present one, oldest first. */
export function earlierGenerations(files: Files, path: string): string[] {
  return siblings(files, path)
    .filter((each) => /^\.\d+$/.test(each.slice(path.length)))
    .sort((a, b) => generationOf(a) - generationOf(b))
}

/** The number at the end of the name of an earlier generation: the revision that it follows. */
export function generationOf(path: string): number {
  return Number(path.slice(path.lastIndexOf('.') + 1))
}

/** The names of the sandboxes whose state files are in a folder; none when there is no such folder. */
export function savedSandboxNames(files: Files, directory: string): string[] {
  if (files.stat(directory) === undefined) return []
  return files
    .list(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter((name) => NAME_PATTERN.test(name))
    .sort()
}

/** The real path, also of a file or a link whose target does not exist yet. Creates the folder of the file. */
export function realPathOf(files: Files, file: string): string {
  const path = linkTarget(resolve(file))
  files.makeDirectory(dirname(path))
  return join(realpathSync(dirname(path)), basename(path))
}

function linkTarget(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path
}
