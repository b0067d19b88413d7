import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchFixtures } from '../bench/servers.ts'

const CLI = 'dist/cli.js'

/** How long a process may take to say that it is ready or to end, in milliseconds: only a hanging one ever needs so long. */
const PATIENCE = 60_000

/** How a process was started. */
export interface StartOptions {
  /** The folder of the state files; `data` of the stage's own folder where none is given. */
  readonly data?: string
  /** Flags of `start` beside those that every proof needs. */
  readonly flags?: readonly string[]
  /** A script that Node runs first, and what it finds in its environment. */
  readonly preload?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Through `npm start`, as a process group of its own, which a terminal would send its signals to. */
  readonly throughNpm?: boolean
  /** In a pid namespace of its own, as in a container; see {@link namespacesArePermitted}. */
  readonly inNamespace?: boolean
}

const UNSHARE = ['-pf', '--mount-proc', '--kill-child']

/** Whether this process may make pid namespaces. */
export function namespacesArePermitted(): boolean {
  return spawnSync('unshare', [...UNSHARE, 'true']).status === 0
}

/** How a process ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Milliseconds of `performance.now()`. */
  readonly at: number
}

/** A folder, and the built emulator started on it any number of times. Both are gone when the proof is over, however it ends. */
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

  /** Starts the emulator on a free port: a frozen clock, no limits, a small sandbox with the key of the benchmarks. */
  start(options: StartOptions = {}): Started {
    const { data = join(this.folder, 'data'), flags = [], preload, environment = {}, throughNpm } = options
    const sandbox = ['--data', data, '--fixtures', join(this.folder, 'fixtures.json')]
    const time = ['--rate', '0', '--clock', '2026-03-01T12:00:00Z']
    const all = [
      '--port',
      '0',
      '--json',
      '--log-format',
      'json',
      '--limits',
      'off',
      ...time,
      ...sandbox,
      ...flags,
    ]
    const [path, home] = [`${join(process.execPath, '..')}:/usr/bin:/bin`, this.folder]
    const how: SpawnOptions = {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: path, HOME: home, ...environment },
      detached: throughNpm === true,
    }
    const before = preload === undefined ? [] : ['--import', preload]
    const direct = [process.execPath, ...before, CLI, 'start', ...all]
    // Without its scripts, npm does not build again before the start.
    const viaNpm = ['npm', 'start', '--silent', '--ignore-scripts', '--', ...all]
    const plain = throughNpm === true ? viaNpm : direct
    const [program = '', ...args] = options.inNamespace === true ? ['unshare', ...UNSHARE, ...plain] : plain
    const child = spawn(program, args, how)
    const started = new Started(child, throughNpm === true)
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

/** A notice as the emulator logs it. */
export interface LogEntry {
  readonly level: string
  readonly message: string
  readonly event?: string
  readonly kept?: string
}

/** A process, ended when its output is closed: through npm that is when the last of them is gone. */
export class Started {
  readonly child: ChildProcess
  readonly startedAt = performance.now()
  /** The port, once it is ready; rejects when it ends before. */
  readonly port: Promise<number>
  readonly ended: Promise<Ending>
  readonly #isGroup: boolean
  #errors = ''
  #isOver = false

  constructor(child: ChildProcess, isGroup: boolean) {
    this.child = child
    this.#isGroup = isGroup
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text
    })
    const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    this.ended = closed.then(([code, signal]) => {
      this.#isOver = true
      return { code, signal, at: performance.now() }
    })
    this.port = within('a process that is ready', this.#announced())
    // Anyone who does not wait for it is told by the exit code.
    this.port.catch(() => {})
  }

  /** What it has said on the error stream. */
  get errors(): string {
    return this.#errors
  }

  /**
   * The whole lines of its log. The error that it ends with becomes an entry of level `end`, anything that is no JSON, a
   * stack trace for one, becomes one of level `raw`.
   */
  get log(): readonly LogEntry[] {
    const lines = this.#errors.slice(0, this.#errors.lastIndexOf('\n') + 1).split('\n')
    return lines.filter((line) => line !== '').map(entryOf)
  }

  /** Sends a signal; in a group to all of it, as a terminal does. Once it has ended, its number may be another's. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.child
    if (pid === undefined || this.#isOver) return
    if (!this.#isGroup) return void this.child.kill(name)
    try {
      process.kill(-pid, name)
    } catch {
      // The last of it has just gone.
    }
  }

  /** Ends it at once, unless it has ended. */
  kill(): void {
    this.signal('SIGKILL')
  }

  /** Ends it in order. */
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

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Whether something comes true, looked for every 20 ms. */
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

/** A promise that rejects when it has not been kept after {@link PATIENCE}. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} was waited for in vain for ${PATIENCE} ms`)), PATIENCE)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
