import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { elapsedTime } from '../core/time/clock.ts'
import { later } from '../core/time/realtime.ts'
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

/** Milliseconds that an interrupted command and its processes have to end before they are killed. */
export const GRACE = 1_000

/** Milliseconds between two checks that they have ended. */
const LOOK = 20

const IS_WINDOWS = process.platform === 'win32'

/** The commands that run: one listener for all of them, since Node warns about more than ten. */
const running = new Set<Child>()

function killRunning(): void {
  for (const child of running) child.kill()
}

/**
 * A command in a separate process, without a shell. With the standard streams of this process, at a terminal, it stays in the
 * foreground group, so that it reads keys and gets Ctrl-C. Otherwise it has its own process group, which gets every signal.
 */
export class Child {
  #process: ChildProcess | undefined
  #isInterrupted = false
  readonly #onStarted: ((process: ChildProcess) => void) | undefined
  readonly #isAtTerminal: boolean
  readonly #hasGroup: boolean

  /** @param onStarted gets the process; its streams are then pipes, instead of those of this process */
  constructor(onStarted?: (process: ChildProcess) => void) {
    this.#onStarted = onStarted
    this.#isAtTerminal = onStarted === undefined && isatty(0)
    this.#hasGroup = !this.#isAtTerminal && !IS_WINDOWS
  }

  /** Runs a command to its end, and the processes of its group too if it was interrupted. Never rejects. */
  async run([file = '', ...args]: readonly string[], env: Environment): Promise<Ended> {
    // The command must end with this process, also when a defect of the emulator ends it.
    if (running.size === 0) process.on('exit', killRunning)
    running.add(this)
    try {
      const ended = await this.#spawned(file, args, env)
      if (this.#isInterrupted && this.#hasGroup) await this.#endOfGroup()
      return ended
    } finally {
      this.#process = undefined
      running.delete(this)
      if (running.size === 0) process.off('exit', killRunning)
    }
  }

  /** Forwards a signal to the command. At a terminal Ctrl-C is not forwarded: the terminal sends it to the foreground group. */
  interrupt(signal: NodeJS.Signals): void {
    this.#isInterrupted = true
    if (signal === 'SIGINT' && this.#isAtTerminal) return
    if (IS_WINDOWS) this.kill()
    else this.#send(signal)
  }

  /** Kills the command: with its process group, on Windows with its child processes, at a terminal alone. */
  kill(): void {
    const { pid } = this.#process ?? {}
    if (!IS_WINDOWS) this.#send('SIGKILL')
    else if (pid !== undefined) spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'])
  }

  /** @param signal 0 sends none @returns whether a process got it, or could have got it */
  #send(signal: NodeJS.Signals | 0): boolean {
    const { pid } = this.#process ?? {}
    try {
      return pid !== undefined && process.kill(this.#hasGroup ? -pid : pid, signal)
    } catch {
      // It has ended.
      return false
    }
  }

  // A shell may end before the processes that it has started.
  async #endOfGroup(): Promise<void> {
    const deadline = elapsedTime() + GRACE
    while (this.#send(0) && elapsedTime() < deadline)
      await new Promise<void>((resolve) => void later(LOOK, resolve))
    this.kill()
  }

  #spawned(file: string, args: readonly string[], env: Environment): Promise<Ended> {
    // This machine is reached without the proxy of the environment. Programs read either form of the name.
    const NO_PROXY = [env.NO_PROXY || env.no_proxy, 'localhost,127.0.0.1,::1'].filter(Boolean).join(',')
    return new Promise((resolve) => {
      try {
        this.#process = spawn(file, args, {
          stdio: this.#onStarted === undefined ? 'inherit' : 'pipe',
          env: { ...env, NO_PROXY, no_proxy: NO_PROXY },
          windowsHide: true,
          detached: this.#hasGroup,
        })
          .once('error', (error) => resolve(notStarted(file, error)))
          .once('exit', (code, signal) => {
            const byExit = code ?? FAILED
            resolve({ code: signal === null ? byExit : BY_SIGNAL + constants.signals[signal], signal })
          })
        this.#onStarted?.(this.#process)
      } catch (error) {
        // Node throws some errors instead of emitting them: an empty name, a script on Windows.
        resolve(notStarted(file, error as NodeJS.ErrnoException))
      }
    })
  }
}

function notStarted(file: string, { code = '', message }: NodeJS.ErrnoException): Ended {
  const isPath = /[/\\]/.test(file)
  if (code === 'ENOENT' && isPath && existsSync(file)) {
    const failure = `The interpreter in the first line of ${file} does not exist. Install it, or change that line.`
    return { code: NOT_EXECUTABLE, signal: null, failure }
  }
  if (code === 'ENOENT' || file === '') {
    const where = isPath ? `There is no file ${file}.` : `There is no command "${file}" on the PATH.`
    return { code: NOT_FOUND, signal: null, failure: `${where} ${fixFor(file)}` }
  }
  const failure = `${file} cannot be executed (${code || message}). ${fixFor(file)}`
  return { code: NOT_EXECUTABLE, signal: null, failure }
}

function fixFor(file: string): string {
  if (IS_WINDOWS) return 'npm, npx and other scripts need a shell here: -- cmd /c npm test'
  if (/[\s&|;<>$*]/.test(file)) return `Shell syntax needs a shell: -- sh -c '${file}'`
  return 'Check its name and its permissions; no shell is used unless you name one.'
}
