import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { succeed } from './run.ts'

/** The package as it would be published. */
export type Packed = Awaited<ReturnType<typeof pack>>

/** Packs the result of the last build in `dist`; `npm test` builds before it tests. */
export async function pack() {
  if (!existsSync('dist/types/index.d.ts')) {
    throw new Error('dist/types is missing. Run "npm run build" and "npm run build:types" first.')
  }
  const folder = await mkdtemp(join(tmpdir(), 'workspace-package-'))
  await succeed('.', 'npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder])
  const [name = ''] = await readdir(folder)
  await succeed(folder, 'tar', ['xzf', name])
  const tarball = join(folder, name)
  const root = join(folder, 'package')
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = resolve(entry.parentPath, entry.name)
        return { path: file.slice(root.length + 1), bytes: await readFile(file) }
      }),
  )
  return {
    tarball,
    /** The folder with the unpacked tarball. */
    folder: root,
    size: (await readFile(tarball)).length,
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
