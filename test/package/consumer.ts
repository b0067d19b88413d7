import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { PATIENCE, succeed } from './run.ts'
import { pack } from './tarball.ts'

export type Consumer = Awaited<ReturnType<typeof consumer>>

/** A project for the tests of one file, which exists before the first of them. */
export function installed(...packages: readonly string[]): () => Consumer {
  let user: Consumer | undefined
  beforeAll(async () => {
    const packed = await pack()
    user = await consumer(packed.tarball, ...packages)
    await packed.remove()
  }, PATIENCE)
  afterAll(() => user?.remove())
  return () => {
    if (user === undefined) throw new Error('the project exists within tests only')
    return user
  }
}

/** Creates an empty folder, and installs the tarball as in the README, and further packages. */
export async function consumer(tarball: string, ...packages: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-consumer-'))
  await succeed(folder, 'npm', ['init', '-y'])
  const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  const installed = await succeed(folder, 'npm', ['install', ...flags, tarball, ...packages])
  return { folder, installed, remove: () => rm(folder, { recursive: true, force: true }) }
}

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
