import { type Dirent, existsSync, realpathSync } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import system, { basename, dirname, extname, join, type PlatformPath, resolve, sep } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { loaded } from '../../core/load.ts'
import { later } from '../../core/time/realtime.ts'

/** A folder of scenarios at one moment. */
interface FolderContents {
  /** The files that are scenarios, in order of their names; absolute. */
  readonly files: readonly string[]
  /** Of every file below the folder, and of the given files outside: a text that changes when the file is saved. */
  readonly prints: ReadonlyMap<string, string>
}

const ENDINGS = ['.ts', '.js', '.mjs', '.cjs', '.json']

/** Files of other tools that are in many folders. */
const FOREIGN = /^(?:package(?:-lock)?|[tj]sconfig.*)\.json$|\.d\.ts$/

/**
 * Whether the name of a file is that of a scenario. Files that start with `_` and files in subfolders are helpers; hidden files
 * and backups of editors are ignored.
 */
export function isScenarioFile(path: string): boolean {
  const name = basename(path)
  return ENDINGS.includes(extname(name)) && !/^[_.#]/.test(name) && !FOREIGN.test(name)
}

/** Real milliseconds between two looks at a file. Polled, since mounted directories send no events. */
const INTERVAL = 100

/** Calls back when something below a folder may have changed. The folder need not exist yet. */
export async function watchFolder(folder: string, onChange: () => void): Promise<FSWatcher> {
  const { watch } = await loaded(import('chokidar'))
  const options = { usePolling: true, interval: INTERVAL, binaryInterval: INTERVAL, persistent: false }
  // chokidar does not notice when both a folder and its parent are created.
  let top = folder
  while (!existsSync(top)) top = dirname(top)
  const within = `${folder}${sep}`
  const ignored = (path: string) =>
    path.startsWith(within) ? isIgnored(basename(path)) || isLoop(path) : !within.startsWith(path)
  const watcher = watch(top, { ...options, ignored })
  // chokidar lists a folder before its first look at it: what is created in between is found by listing it again.
  watcher.on('addDir', (path) => later(INTERVAL, () => watcher.closed || watcher.add(path)))
  // `raw` also reports a file that was replaced by an older one. An `error` is a loop of links, or a folder that cannot be read.
  return watcher.on('all', onChange).on('raw', onChange).on('error', onChange)
}

/** Whether a folder is a link to one that contains it: chokidar would follow it again and again. */
function isLoop(path: string): boolean {
  if (!existsSync(path)) return false
  return `${realpathSync(dirname(path))}${sep}`.startsWith(`${realpathSync(path)}${sep}`)
}

/** The name of the scenario in a file. */
export function scenarioName(path: string): string {
  return basename(path, extname(path))
}

/** Reads the folder. A missing folder counts as empty. @param others files that may be outside the folder */
export async function readFolder(
  folder: string,
  others: Iterable<string> = [],
  isWanted = isScenarioFile,
): Promise<FolderContents> {
  const entries = await walk(folder)
  const listed = new Set(entries.map(pathOf))
  const print = async (path: string): Promise<string> => {
    // A file that is removed after it was listed has another print than one that is not listed any more.
    return listed.has(path) ? printOf(path) : `not listed: ${await printOf(path)}`
  }
  const paths = [...new Set([...listed, ...others])]
  const prints = await Promise.all(paths.map(async (path) => [path, await print(path)] as const))
  // A FIFO or a device is listed under any name, so that its problem is reported.
  const isListed = (entry: Dirent) => isWanted(entry.name) || !(entry.isFile() || entry.isSymbolicLink())
  const files = entries.filter((entry) => entry.parentPath === folder && isListed(entry)).map(pathOf)
  return { files, prints: new Map(prints) }
}

/** The texts of regular files below a folder, by their paths in it. Those that are elsewhere, also through links, are left out. */
export async function textsIn(
  folder: string,
  files: Iterable<string>,
): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {}
  for (const file of files) {
    // It may have been removed since it was imported.
    const real = await realpath(file).catch(() => '')
    const path = within(await realpath(folder), real)
    if (path !== undefined && (await stat(real)).isFile())
      texts[within(resolve(folder), file) ?? path] = await readFile(real, 'utf8')
  }
  return texts
}

function within(folder: string, path: string): string | undefined {
  return path.startsWith(`${folder}${sep}`) ? portablePath(folder, path) : undefined
}

/** The path of a file in a folder with slashes on every system: a recording of Windows is replayed elsewhere. */
export function portablePath(folder: string, file: string, path: PlatformPath = system): string {
  return path.relative(folder, file).replaceAll(path.sep, '/')
}

/** Everything below a folder except folders. */
async function walk(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown): Dirent[] => {
    // No free file descriptor: the folder has its files nevertheless.
    if (/^E[MN]FILE$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error
    return []
  })
  const seen = entries.filter(({ name }) => !isIgnored(name)).sort((a, b) => (a.name < b.name ? -1 : 1))
  const found = await Promise.all(seen.map((each) => (each.isDirectory() ? walk(pathOf(each)) : [each])))
  return found.flat()
}

function pathOf({ parentPath, name }: Dirent): string {
  return join(parentPath, name)
}

function isIgnored(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.') || name.endsWith('~')
}

// Size and times instead of contents: the folder is read at each event of the watch.
async function printOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return 'unreadable'
  }
}
