import { nodeFiles } from './files.ts'
import { savedWorlds } from './names.ts'

export type { OnNotice } from './notice.ts'
export { onDisk } from './on-disk.ts'
export { openPersistence, type Persistence } from './persistence.ts'
export { SnapshotFiles } from './snapshot-files.ts'

/** The names of the worlds that a folder holds. */
export const worldsIn = (directory: string): string[] => savedWorlds(nodeFiles, directory)
