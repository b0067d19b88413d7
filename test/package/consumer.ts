import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Finished, succeed } from './run.ts'

/** A project that uses the package. */
export interface Consumer {
  readonly folder: string
  /** The result of the installation. */
  readonly installed: Finished
  remove(): Promise<void>
}

/** Creates an empty folder, and installs the tarball as in the README, and further packages. */
export async function consumer(tarball: string, ...packages: readonly string[]): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-consumer-'))
  await succeed(folder, 'npm', ['init', '-y'])
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  const installed = await succeed(folder, 'npm', ['install', ...flags, tarball, ...packages])
  return { folder, installed, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Writes files of a project and creates their folders. */
export async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** Replaces `npm install --save-dev`, which takes longer: links packages of this checkout. */
export async function borrow(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await rm(link, { force: true })
    await symlink(resolve('node_modules', name), link)
  }
}
