import { createHash } from 'node:crypto'
import { type Dirent, existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { type Cancel, later } from '../realtime.ts'

/** A folder of scenarios at one moment. */
interface FolderContents {
  /** The files that are scenarios, in order of their names; absolute. */
  readonly files: readonly string[]
  /** Changes with the contents of any file below the folder, and of the given files outside. */
  readonly fingerprint: string
}

const ENDINGS = ['.ts', '.js', '.mjs', '.cjs', '.json']

/** Files of other tools that are in many folders. */
const FOREIGN = /^(?:package(?:-lock)?|[tj]sconfig.*)\.json$|\.d\.ts$/

/** Bytes; larger files are compared by size and time instead of by contents. */
const LARGE = 1_048_576

/**
 * Whether the name of a file is that of a scenario. Files that start with `_` and files in subfolders are helpers; hidden files
 * and backups of editors are ignored.
 */
export function isScenarioFile(path: string): boolean {
  const name = basename(path)
  return ENDINGS.includes(extname(name)) && !/^[_.#]/.test(name) && !FOREIGN.test(name)
}

/** The name of the scenario in a file. */
export function scenarioName(path: string): string {
  return basename(path, extname(path))
}

/** Whether anything at a path can matter to scenarios. */
function isWatched(path: string): boolean {
  return !isIgnored(basename(path))
}

/** Reads the folder. A missing folder counts as empty. */
export async function readFolder(folder: string, outside: Iterable<string> = []): Promise<FolderContents> {
  const paths = await walk(folder)
  const prints = await Promise.all([...paths, ...[...outside].sort()].map(printOf))
  const files = paths.filter((path) => join(folder, basename(path)) === path && isScenarioFile(path))
  return { files, fingerprint: createHash('sha256').update(prints.join('\n')).digest('hex') }
}

async function walk(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  const seen = entries.filter(({ name }) => !isIgnored(name)).sort((a, b) => (a.name < b.name ? -1 : 1))
  const found = await Promise.all(
    seen.map((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? walk(path) : [path]
    }),
  )
  return found.flat()
}

function isIgnored(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.') || name.endsWith('~')
}

async function printOf(path: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(path)
    if (size > LARGE) return `${path} ${size} ${mtimeMs}`
    return `${path} ${createHash('sha256')
      .update(await readFile(path))
      .digest('hex')}`
  } catch {
    return `${path} unreadable`
  }
}

/** Milliseconds between two checks of the metadata of the files. */
const INTERVAL = 150

/** Milliseconds between two checks whether the parent of the folder exists. */
const PATIENCE = 500

/** A watch on a folder. */
export interface FolderWatch {
  /** Also watches files outside the folder. */
  add(files: readonly string[]): void
  close(): Promise<void>
}

/**
 * Calls `look` when something below a folder may have changed, and once when the watch is ready. The folder need not exist yet.
 * It is polled, since mounted directories send no events.
 */
export async function watchFolder(
  folder: string,
  look: () => void,
  onError: (error: unknown) => void,
): Promise<FolderWatch> {
  const { watch } = await import('chokidar')
  const elsewhere = new Set<string>()
  let watcher: FSWatcher | undefined
  let cancel: Cancel = () => {}
  // For a missing folder chokidar watches the parent; if that is missing, too, it watches nothing.
  const begin = (): void => {
    if (!existsSync(dirname(folder))) {
      cancel = later(PATIENCE, begin)
      return
    }
    watcher = watch([folder, ...elsewhere], {
      usePolling: true,
      interval: INTERVAL,
      binaryInterval: INTERVAL,
      ignoreInitial: true,
      persistent: false,
      ignored: (path) => isBelow(folder, path) && !isWatched(path),
    })
    // `raw` also reports a file that was replaced by an older one, which chokidar considers unchanged.
    watcher.on('raw', look).on('all', look).on('ready', look).on('error', onError)
  }
  begin()
  return {
    add: (files) => {
      for (const file of files) elsewhere.add(file)
      watcher?.add([...files])
    },
    close: async () => {
      cancel()
      await watcher?.close()
    },
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && !way.startsWith('..')
}
