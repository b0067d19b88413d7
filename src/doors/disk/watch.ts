import { reasonOf } from './files.ts'
import type { OnNotice } from './notice.ts'

/** How often the file's metadata is looked at, in milliseconds. */
const INTERVAL = 250

/** A watch that can be ended. */
export interface Watch {
  close(): Promise<void>
}

/**
 * Calls `look` whenever the file may have changed: rewritten, replaced, removed or made again. The file is polled, not
 * subscribed to: that also works on mounted directories that report no events, and a log that grows beside the file by
 * thousands of lines a second costs nothing. The library is loaded here, after the start.
 */
export async function watchFile(path: string, look: () => void, onNotice: OnNotice): Promise<Watch> {
  const { watch } = await import('chokidar')
  const watcher = watch(path, {
    usePolling: true,
    interval: INTERVAL,
    binaryInterval: INTERVAL,
    persistent: false,
  })
  // `raw` also comes for a file that was replaced by an older one, which chokidar takes for unchanged.
  watcher.on('raw', look)
  watcher.on('all', (event) => {
    // A removed file is forgotten; it is to be seen again when it comes back.
    if (event === 'unlink') watcher.add(path)
    look()
  })
  watcher.on('error', (error) => watchFailed(path, error, onNotice))
  return watcher
}

/** Says that edits may go unnoticed for a while. */
export function watchFailed(path: string, error: unknown, onNotice: OnNotice): void {
  onNotice({
    level: 'warn',
    event: 'watch_failed',
    message: `${path} cannot be watched: ${reasonOf(error)}. Edits are noticed at the next checkpoint.`,
    file: path,
  })
}
