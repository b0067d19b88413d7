import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Files } from '../../src/doors/disk/files.ts'
import type { Notice } from '../../src/doors/disk/notice.ts'
import { SnapshotFiles } from '../../src/doors/disk/snapshot-files.ts'
import { Sandbox } from '../../src/kernel/worlds/sandbox.ts'
import { Snapshots } from '../../src/kernel/worlds/snapshots.ts'
import { folder, sandboxOptions, startingWorld, testLedger, testService } from './disk-world.ts'

/** A world whose snapshots are files; the world itself is in memory. */
export interface ShelfWorld {
  readonly sandbox: Sandbox
  readonly snapshots: Snapshots
  readonly shelf: SnapshotFiles
  readonly directory: string
  readonly notices: Notice[]
}

/** The path of a directory for snapshots that is not there yet, gone at the end of the test. */
export function shelfDirectory(): string {
  return join(folder(onTestFinished), 'data', 'snapshots', 'w1')
}

/** A new world and the snapshots that a directory holds, as another process would find them. */
export async function shelved(
  directory: string,
  notes: Readonly<Record<string, string>> = {},
  files?: Files,
): Promise<ShelfWorld> {
  const sandbox = new Sandbox({ ...sandboxOptions(), name: 'w1' }, await startingWorld(notes))
  const notices: Notice[] = []
  const shelf = new SnapshotFiles({
    directory,
    sandbox: 'w1',
    context: { service: testService, ledger: testLedger, strict: false },
    onNotice: (notice) => notices.push(notice),
    ...(files === undefined ? {} : { files }),
  })
  shelf.sweep()
  return { sandbox, snapshots: new Snapshots(sandbox, shelf), shelf, directory, notices }
}
