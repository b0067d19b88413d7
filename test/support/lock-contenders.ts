import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buildSync } from 'esbuild'
import { thisProcess } from '../../src/adapters/storage/process-identity.ts'

const PROGRAM = join(import.meta.dirname, 'lock-contender.ts')
const UNSHARE = ['-pf', '--mount-proc', '--kill-child']

/** Where the process of the stale lock ran, and where each start runs. */
export type Places = 'same namespace' | 'separate namespaces'

/**
 * Lets processes start at the same moment on folders with the lock of a process that has ended, again and again.
 * @param starts the number of processes
 * @param rounds the number of folders; those of one batch are contested at the same time
 * @returns the contests without exactly one holder, or with a loser that does not name it
 */
export async function contests(
  places: Places,
  { starts, rounds, batch }: { readonly starts: number; readonly rounds: number; readonly batch: number },
) {
  const parent = mkdtempSync(join(tmpdir(), 'workspace-locks-'))
  // A process that loads TypeScript takes ten times as long to start.
  const program = join(parent, 'contender.mjs')
  buildSync({ entryPoints: [PROGRAM], outfile: program, bundle: true, platform: 'node', format: 'esm' })
  const all = Array.from({ length: starts }, () => new Contender(places, program))
  const wrong: { results: readonly (string | null)[]; left: readonly string[] }[] = []
  try {
    for (const each of all) await each.answer()
    for (let done = 0; done < rounds; done += batch) {
      const folders = Array.from({ length: Math.min(batch, rounds - done) }, (_, n) =>
        join(parent, `${done + n}`),
      )
      for (const folder of folders) leaveLock(folder, places)
      for (const each of all) each.take(folders)
      const answers = await Promise.all(all.map((each) => each.answer()))
      for (const [n, folder] of folders.entries()) {
        const results = answers.map((answer) => answer[n] ?? null)
        const left = readdirSync(folder)
        const losers = results.filter((each) => each !== null)
        const isClear = losers.every((each) => each.startsWith(`${folder} is in use by process `))
        if (losers.length !== starts - 1 || !isClear || left.join() !== 'lock') wrong.push({ results, left })
      }
    }
    return wrong
  } finally {
    await Promise.all(all.map((each) => each.end()))
    rmSync(parent, { recursive: true, force: true })
  }
}

// A pid above the maximum of Linux belongs to no process.
function leaveLock(folder: string, places: Places): void {
  mkdirSync(folder)
  const { host } = thisProcess()
  const holder = { pid: 2 ** 22 + 1, host: places === 'same namespace' ? host : `${host}-elsewhere` }
  writeFileSync(join(folder, 'lock'), JSON.stringify({ ...holder, nonce: 'a1' }))
}

class Contender {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(places: Places, file: string) {
    const [program, ...args] =
      places === 'same namespace' ? [process.execPath] : ['unshare', ...UNSHARE, process.execPath]
    this.#child = spawn(program as string, [...args, file], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[
      Symbol.asyncIterator
    ]()
  }

  take(folders: readonly string[]): void {
    this.#child.stdin?.write(`${JSON.stringify(folders)}\n`)
  }

  async answer(): Promise<readonly (string | null)[]> {
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error('a process ended before it answered')
    return JSON.parse(value)
  }

  async end(): Promise<void> {
    this.#child.stdin?.end()
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
  }
}
