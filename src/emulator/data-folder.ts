import { existsSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { ScenarioNotice } from '../adapters/scenarios/problem.ts'
import { nodeFiles } from '../adapters/storage/files.ts'
import { Lock } from '../adapters/storage/lock.ts'
import { savedSandboxNames } from '../adapters/storage/names.ts'
import type { StorageNotice } from '../adapters/storage/notice.ts'
import { DEFAULT_SANDBOX } from '../core/sandboxes/name.ts'
import { type InternalOptions, SILENT, startOptions } from './options.ts'

/** The folder of all sandboxes but the default one: their names must not clash with other files. */
const OTHERS = 'sandboxes'

/** The folder of snapshots, with a folder for each sandbox that has some. */
const SNAPSHOTS = 'snapshots'

/** Acquires the lock of the data folder; undefined when nothing is written. May wait for the lock, and logs that. */
export async function lockData(options: InternalOptions): Promise<Lock | undefined> {
  if (options.ephemeral === true) return undefined
  const data = dataFolderOf(options)
  try {
    // The usual folder stands in a project of the user. Git ignores it: the state is that of one machine, and holds keys.
    const isNew = basename(resolve(data)) === startOptions.data.default && !existsSync(data)
    const lock = await Lock.take(data, noticesTo(options))
    if (isNew) writeFileSync(join(data, '.gitignore'), '*\n', { mode: 0o600 })
    return lock
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    const user = process.getuid === undefined ? '' : ` (user id ${process.getuid()})`
    const message = `The data folder ${resolve(data)} cannot be written by this process${user}: ${error.message}. Make it writable, choose another one with --data, or keep everything in memory with --ephemeral`
    throw Object.assign(new Error(message, { cause: error }), { syscall: error.syscall })
  }
}

/** Writes notices to the log. */
export function noticesTo({ logger = SILENT }: InternalOptions) {
  return ({ level, message, ...fields }: StorageNotice | ScenarioNotice) => logger[level](message, fields)
}

/** The path of the state file of a sandbox. */
export function stateFileOf(options: InternalOptions, name: string): string {
  const data = dataFolderOf(options)
  return join(name === DEFAULT_SANDBOX ? data : join(data, OTHERS), `${name}.json`)
}

/** The folder of the snapshots of a sandbox. */
export function snapshotFolderOf(options: InternalOptions, name: string): string {
  return join(dataFolderOf(options), SNAPSHOTS, name)
}

/** The names of the saved sandboxes, without the default one. */
export function savedSandboxes(options: InternalOptions): string[] {
  return options.ephemeral === true ? [] : savedSandboxNames(nodeFiles, join(dataFolderOf(options), OTHERS))
}

function dataFolderOf({ data = startOptions.data.default }: InternalOptions): string {
  return data
}
