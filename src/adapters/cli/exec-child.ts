import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { elapsedTime } from '../../core/time/clock.ts'
import { later } from '../realtime.ts'
import { FAILED } from './command.ts'
import type { Environment } from './options.ts'

/** The end of a command, with the exit codes of shells. */
export interface Ended {
  /** Its exit code; 128 plus the number of the signal that killed it; 126 or 127 if it could not be started. */
  readonly code: number
  readonly signal: NodeJS.Signals | null
  /** Why it could not be started, and the fix. */
  readonly failure?: string
}

/** Exit codes of a command that cannot be executed, and of one that does not exist. */
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127
const BY_SIGNAL = 128

/** Milliseconds that the processes of an interrupted command have to end before they are killed. */
const GRACE = 1_000

/** Milliseconds between two checks that they have ended. */
const LOOK = 20

/** A command in a separate process, with the standard streams of this process and without a shell. */
export class Child {
  #process: ChildProcess | undefined
  #interruptedBy: NodeJS.Signals | undefined
  /** The processes that the command had started when it was interrupted. */
  #family: readonly ProcessId[] = []

  /** Runs a command to its end; never rejects. */
  async run([file = '', ...args]: readonly string[], env: Environment): Promise<Ended> {
    const kill = (): void => this.kill()
    // The command must end with this process, also when a defect of the emulator ends it.
    process.on('exit', kill)
    try {
      const ended = await this.#spawned(file, args, env)
      this.#process = undefined
      this.#forward()
      return ended
    } finally {
      process.off('exit', kill)
    }
  }

  /** Forwards a signal to the command. Ctrl-C is not forwarded: the terminal sends it to every process in the foreground. */
  interrupt(signal: NodeJS.Signals): void {
    const { pid } = this.#process ?? {}
    if (pid === undefined) return
    this.#family = descendantsOf(pid)
    if (signal === 'SIGINT' && isAtTerminal()) return
    this.#interruptedBy = signal
    signalTo(pid, signal)
  }

  /** Kills the command and all processes that it has started. */
  kill(): void {
    const { pid } = this.#process ?? {}
    const all = new Set(stillRunning(this.#family).map(({ pid }) => pid))
    if (pid !== undefined) for (const each of stopped(pid)) all.add(each)
    for (const each of all) signalTo(each, 'SIGKILL')
  }

  /** Resolves when every process of an interrupted command has ended. Processes that still run after one second are killed. */
  async sweep(): Promise<void> {
    const deadline = elapsedTime() + GRACE
    while (stillRunning(this.#family).length > 0 && elapsedTime() < deadline) {
      await new Promise<void>((resolve) => void later(LOOK, resolve))
    }
    this.kill()
  }

  #spawned(file: string, args: readonly string[], env: Environment): Promise<Ended> {
    return new Promise((resolve) => {
      try {
        this.#process = spawn(file, args, { stdio: 'inherit', env, windowsHide: true })
          .once('error', (error) => resolve(notStarted(file, error)))
          .once('exit', (code, signal) => resolve(endOf(code, signal)))
      } catch (error) {
        // Node throws some errors instead of emitting them: an empty name, a script on Windows.
        resolve(notStarted(file, error as NodeJS.ErrnoException))
      }
    })
  }

  // A shell that ends by a signal leaves its own commands running, so they get the signal too.
  #forward(): void {
    const signal = this.#interruptedBy
    if (signal === undefined) return
    for (const { pid } of stillRunning(this.#family)) signalTo(pid, signal)
  }
}

/** Pauses a process and all its descendants with SIGSTOP, so that none of them can start another one. */
function stopped(pid: number): ReadonlySet<number> {
  const all = new Set<number>()
  for (let more = [pid]; more.length > 0; ) {
    for (const each of more) {
      signalTo(each, 'SIGSTOP')
      all.add(each)
    }
    more = descendantsOf(pid)
      .map((below) => below.pid)
      .filter((each) => !all.has(each))
  }
  return all
}

function isAtTerminal(): boolean {
  return [0, 1, 2].some(isatty)
}

function endOf(code: number | null, signal: NodeJS.Signals | null): Ended {
  return { code: signal === null ? (code ?? FAILED) : BY_SIGNAL + constants.signals[signal], signal }
}

function notStarted(file: string, { code = '', message }: NodeJS.ErrnoException): Ended {
  const isPath = /[/\\]/.test(file)
  if (code === 'ENOENT' && isPath && existsSync(file)) {
    return failed(
      NOT_EXECUTABLE,
      `The interpreter in the first line of ${file} does not exist. Install it, or change that line.`,
    )
  }
  if (code === 'ENOENT' || file === '') {
    const where = isPath ? `There is no file ${file}.` : `There is no command "${file}" on the PATH.`
    return failed(NOT_FOUND, `${where} ${wayOut(file)}`)
  }
  const reason = code === '' ? message : code
  return failed(NOT_EXECUTABLE, `${file} cannot be executed (${reason}). ${wayOut(file)}`)
}

function failed(code: number, failure: string): Ended {
  return { code, signal: null, failure }
}

function wayOut(file: string): string {
  if (process.platform === 'win32')
    return 'npm, npx and other scripts need a shell here: exec -- cmd /c npm test'
  if (/[\s&|;<>$*]/.test(file)) return `Shell syntax needs a shell: exec -- sh -c '${file}'`
  return 'Check its name and its permissions; exec uses no shell unless you name one.'
}

/** A process. The system may give its pid to another process later. */
interface ProcessId {
  readonly pid: number
  /** In the format of the system; only for comparison. */
  readonly startedAt: string
}

interface Entry extends ProcessId {
  readonly parent: number
  /** It is a zombie: it has ended, and its parent has not read its exit code yet. */
  readonly isOver: boolean
}

/** The descendants of a process. Empty on Windows, which does not list them. */
export function descendantsOf(pid: number): ProcessId[] {
  const entries = processes()
  const found: Entry[] = []
  const parents = new Set([pid])
  for (let more = true; more; ) {
    const next = entries.filter((entry) => parents.has(entry.parent) && !parents.has(entry.pid))
    for (const entry of next) parents.add(entry.pid)
    found.push(...next)
    more = next.length > 0
  }
  return found.filter(({ isOver }) => !isOver).map(({ pid, startedAt }) => ({ pid, startedAt }))
}

/** The processes of a list that still run. */
export function stillRunning(family: readonly ProcessId[]): readonly ProcessId[] {
  if (family.length === 0) return family
  const running = new Map(processes().map((entry) => [entry.pid, entry]))
  return family.filter(({ pid, startedAt }) => {
    const entry = running.get(pid)
    return entry !== undefined && !entry.isOver && entry.startedAt === startedAt
  })
}

/** Sends a signal to a process. Nothing happens when it has ended or belongs to another user. */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {}
}

function processes(): Entry[] {
  if (process.platform === 'win32') return []
  return process.platform === 'linux' ? fromProc() : fromPs()
}

// Small container images have no `ps`.
function fromProc(): Entry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      // The name of the program is in parentheses and may hold any character; the last parenthesis closes it.
      const [state = '', parent = '', ...others] = statOf(name)
        .replace(/^.*\)\s+/s, '')
        .split(' ')
      const startedAt = others[17]
      return startedAt === undefined
        ? []
        : [{ pid: Number(name), parent: Number(parent), startedAt, isOver: 'ZX'.includes(state) }]
    })
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

function fromPs(): Entry[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart='], { encoding: 'utf8' })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [, pid, parent, state = '', startedAt = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), startedAt, isOver: state.startsWith('Z') }]
  })
}
