import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { type Finished, PLAIN_ENV, succeed } from './run.ts'

/** A project that uses the package. */
export interface Consumer {
  readonly folder: string
  /** The result of the installation. */
  readonly installed: Finished
  remove(): Promise<void>
}

/** Creates an empty folder, and installs the tarball as in the README, without access to the network. */
export async function consumer(tarball: string): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-consumer-'))
  await succeed(folder, 'npm', ['init', '-y'])
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
  const installed = await succeed(folder, 'npm', ['install', ...flags, tarball])
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

/** Replaces `npm install --save-dev`, which would need the network: links packages of this checkout. */
export async function borrow(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await rm(link, { force: true })
    await symlink(resolve('node_modules', name), link)
  }
}

/** Starts the installed command on a free port and ends it. @returns milliseconds until it was ready */
export async function startTime(folder: string): Promise<number> {
  const start = performance.now()
  const child = spawn(
    join(folder, 'node_modules/.bin/workspace-emulator'),
    ['start', '--json', '--port', '0', '--ephemeral'],
    { cwd: folder, env: PLAIN_ENV, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(child, 'close')
  await Promise.race([once(child.stdout, 'data'), ended])
  const ms = Math.round(performance.now() - start)
  child.kill('SIGTERM')
  const [code] = await ended
  if (code !== 0) throw new Error(`the installed command ended with exit code ${code}`)
  return ms
}
