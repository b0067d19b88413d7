import { existsSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { type Cancel, later } from '../realtime.ts'
import { isWatched } from './folder.ts'

/** How often the metadata of the files is looked at, in milliseconds. */
const INTERVAL = 150

/** How often to look whether the folder's parent is there, in milliseconds. */
const PATIENCE = 500

/** A watch on a folder. */
export interface FolderWatch {
  /** Watches files that are elsewhere as well. */
  add(files: readonly string[]): void
  close(): Promise<void>
}

/**
 * Calls `look` whenever something below a folder may have changed, and once when nothing can escape any more; the folder need
 * not be there yet. It is polled, not subscribed to, since mounted directories report no events.
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
  // Of a missing folder chokidar watches the parent, and nothing where that is missing as well.
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
    // `raw` also comes for a file that was replaced by an older one, which chokidar takes for unchanged.
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
