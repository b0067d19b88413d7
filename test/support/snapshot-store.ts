import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Files } from '../../src/adapters/storage/files.ts'
import type { StorageNotice } from '../../src/adapters/storage/notice.ts'
import { SnapshotFiles } from '../../src/adapters/storage/snapshots.ts'
import { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { Snapshots } from '../../src/core/sandboxes/snapshots.ts'
import { folder, sandboxOptions, startingState, testService } from './disk-emulator.ts'

/** A sandbox in memory whose snapshots are files. */
export type SnapshotEmulator = Awaited<ReturnType<typeof shelved>>

/** The path of a directory for snapshots that does not exist yet; it is removed after the test. */
export function snapshotDirectory(): string {
  return join(folder(onTestFinished), 'data', 'snapshots', 'w1')
}

/** A new sandbox and the snapshots in a directory, as another process would load them. */
export async function shelved(
  directory: string,
  notes: Readonly<Record<string, string>> = {},
  files?: Files,
) {
  const sandbox = new Sandbox({ ...sandboxOptions(), name: 'w1' }, await startingState(notes))
  const notices: StorageNotice[] = []
  const snapshotStore = new SnapshotFiles({
    directory,
    sandbox: 'w1',
    context: { service: testService, strict: false },
    onNotice: (notice) => notices.push(notice),
    ...(files === undefined ? {} : { files }),
  })
  snapshotStore.sweep()
  return { sandbox, snapshots: new Snapshots(sandbox, snapshotStore), snapshotStore, directory, notices }
}
