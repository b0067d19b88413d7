import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { NAME_PATTERN } from '../../core/sandboxes/name.ts'
import { type Files, hasCode } from './files.ts'

/** The journal of a state file. */
export function journalOf(path: string): string {
  return `${path}.journal`
}

/**
 * A file for an edit of a state file that was refused: `<file>.refused.json`, or the first of `<file>.refused-2.json` and so on
 * that is free. An earlier edit is never overwritten; the same one is not kept twice.
 */
export function refusedOf(files: Files, path: string, edit: Buffer): string {
  for (let n = 1; ; n++) {
    const name = `${path}.refused${n === 1 ? '' : `-${n}`}.json`
    if (files.stat(name) === undefined || files.read(name)?.equals(edit)) return name
  }
}

/** A name to keep content next to a file: the first `<file>.<word>-<n>` that is free, from 1. */
export function keptName(files: Files, path: string, word: string): string {
  for (let n = 1; ; n++) {
    const name = `${path}.${word}-${n}`
    if (files.stat(name) === undefined) return name
  }
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
