import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchFixtures } from '../bench/servers.ts'

const CLI = 'dist/cli.js'

/** How long a process may take to be ready or to end, in milliseconds; only a process that hangs needs so long. */
const PATIENCE = 60_000

export interface StartOptions {
  /** The folder of the state files; default: `data` in the folder of the stage. */
  readonly data?: string
  /** Flags of `start` in addition to those that every proof needs. */
  readonly flags?: readonly string[]
  /** A script that Node runs first, and additional environment variables. */
  readonly preload?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Starts in a separate pid namespace, as in a container; see {@link namespacesArePermitted}. */
  readonly inNamespace?: boolean
}

const UNSHARE = ['-pf', '--mount-proc', '--kill-child']

export function namespacesArePermitted(): boolean {
  return spawnSync('unshare', [...UNSHARE, 'true']).status === 0
}

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** In milliseconds of `performance.now()`. */
  readonly at: number
}

/** A folder, and any number of emulator processes on it. Both are removed when the proof is over, however it ends. */
export class Stage implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'workspace-proof-'))
  readonly #started = new Set<Started>()
  readonly #clear = (): void => {
    for (const each of this.#started) each.kill()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  constructor() {
    if (!existsSync(CLI)) throw new Error(`${CLI} is missing. Run "npm run build" first.`)
    process.once('exit', this.#clear)
    writeFileSync(join(this.folder, 'fixtures.json'), benchFixtures(0))
  }

  /** Starts the emulator on a free port: frozen clock, no rate limits, a small sandbox with the key of the benchmarks. */
  start(options: StartOptions = {}): Started {
    const { data = join(this.folder, 'data'), flags = [], preload, environment = {} } = options
    const sandbox = ['--data', data, '--fixtures', join(this.folder, 'fixtures.json')]
    const flagsOfAll = ['--port', '0', '--json', '--log-format', 'json', '--limits', 'off', '--rate', '0']
    const all = [...flagsOfAll, '--clock', '2026-03-01T12:00:00Z', ...sandbox, ...flags]
    const [path, home] = [`${join(process.execPath, '..')}:/usr/bin:/bin`, this.folder]
    const how: SpawnOptions = {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: path, HOME: home, ...environment },
    }
    const before = preload === undefined ? [] : ['--import', preload]
    const direct = [process.execPath, ...before, CLI, 'start', ...all]
    const [program = '', ...args] = options.inNamespace === true ? ['unshare', ...UNSHARE, ...direct] : direct
    const child = spawn(program, args, how)
    const started = new Started(child)
    this.#started.add(started)
    void started.ended.then(() => this.#started.delete(started))
    return started
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#started]
    for (const each of all) each.kill()
    await Promise.all(all.map(({ ended }) => ended))
    process.off('exit', this.#clear)
    this.#clear()
  }
}

export interface LogEntry {
  readonly level: string
  readonly message: string
  readonly event?: string
  readonly kept?: string
}

/** A process that counts as ended when its output is closed. */
export class Started {
  readonly child: ChildProcess
  readonly startedAt = performance.now()
  /** The port when the process is ready; rejects if it ends before. */
  readonly port: Promise<number>
  readonly ended: Promise<Ending>
  #errors = ''
  #isOver = false

  constructor(child: ChildProcess) {
    this.child = child
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text
    })
    const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    this.ended = closed.then(([code, signal]) => {
      this.#isOver = true
      return { code, signal, at: performance.now() }
    })
    this.port = within('a process that is ready', this.#announced())
    // Callers that do not await the port check the exit code instead.
    this.port.catch(() => {})
  }

  get errors(): string {
    return this.#errors
  }

  /**
   * The complete lines of its log. The error at its end becomes an entry of level `end`; text that is not JSON, such as a stack
   * trace, becomes one of level `raw`.
   */
  get log(): readonly LogEntry[] {
    const lines = this.#errors.slice(0, this.#errors.lastIndexOf('\n') + 1).split('\n')
    return lines.filter((line) => line !== '').map(entryOf)
  }

  /** What it logged that it should never log. */
  get defects(): readonly LogEntry[] {
    return this.log.filter(({ level }) => level === 'error' || level === 'raw')
  }

  signal(name: NodeJS.Signals): void {
    if (!this.#isOver) this.child.kill(name)
  }

  kill(): void {
    this.signal('SIGKILL')
  }

  async stop(): Promise<Ending> {
    this.signal('SIGTERM')
    return within('the end of a process', this.ended)
  }

  #announced(): Promise<number> {
    return new Promise((resolve, reject) => {
      let text = ''
      this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        const line = /^\{.*\}$/m.exec(text)?.[0]
        if (line !== undefined) resolve((JSON.parse(line) as { port: number }).port)
      })
      void this.ended.then(({ code, signal }) =>
        reject(new Error(`the emulator ended with ${code ?? signal} before it was ready: ${this.#errors}`)),
      )
    })
  }
}

function entryOf(line: string): LogEntry {
  try {
    const entry = JSON.parse(line) as LogEntry | { readonly error: { readonly message: string } }
    return 'error' in entry ? { level: 'end', message: entry.error.message } : entry
  } catch {
    return { level: 'raw', message: line }
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Whether a condition becomes true; checked every 20 ms. */
export async function comesTrue(
  what: () => boolean | Promise<boolean>,
  patience = PATIENCE,
): Promise<boolean> {
  const end = performance.now() + patience
  while (performance.now() < end) {
    if (await what()) return true
    await pause(20)
  }
  return false
}

/** Rejects if the promise is still pending after {@link PATIENCE}. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen within ${PATIENCE} ms`)), PATIENCE)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
