import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { hostTime } from '../../kernel/time/clock.ts'
import { later } from '../realtime.ts'
import type { Environment } from './options.ts'
import { descendantsOf, type ProcessId, signalTo, stillRunning } from './process-tree.ts'
import { FAILED } from './usage.ts'

/** How a command ended, as shells put it. */
export interface Ended {
  /** Its exit code; 128 and the number of the signal that killed it; 126 or 127 when it could not be started. */
  readonly code: number
  readonly signal: NodeJS.Signals | null
  /** Why it could not be started, and the way out. */
  readonly failure?: string
}

/** Exit codes of a command that is there and cannot be executed, and of one that is not there. */
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127
const BY_SIGNAL = 128

/** Milliseconds that what an interrupted command has left behind has to end by itself. */
const GRACE = 1_000

/** How often it is looked whether it has, in milliseconds. */
const LOOK = 20

/** One command in a process of its own, with the standard streams of this one and no shell. */
export class Child {
  #process: ChildProcess | undefined
  #interruptedBy: NodeJS.Signals | undefined
  /** What the command had started when it was interrupted. */
  #family: readonly ProcessId[] = []

  /** Runs a command to its end; never rejects. */
  async run([file = '', ...args]: readonly string[], env: Environment): Promise<Ended> {
    const kill = (): void => this.kill()
    // Whatever ends this process, a defect of ours included, is not to leave the command behind.
    process.on('exit', kill)
    try {
      const ended = await this.#spawned(file, args, env)
      this.#process = undefined
      this.#handOn()
      return ended
    } finally {
      process.off('exit', kill)
    }
  }

  /**
   * Passes a signal on to the command, once: Ctrl-C of a terminal has reached it already, as everything that runs in the
   * foreground there.
   */
  interrupt(signal: NodeJS.Signals): void {
    const { pid } = this.#process ?? {}
    if (pid === undefined) return
    this.#family = descendantsOf(pid)
    if (signal === 'SIGINT' && isAtTerminal()) return
    this.#interruptedBy = signal
    signalTo(pid, signal)
  }

  /** Ends the command and all that it has started, without asking. */
  kill(): void {
    const { pid } = this.#process ?? {}
    const all = new Set(stillRunning(this.#family).map(({ pid }) => pid))
    if (pid !== undefined) for (const each of stopped(pid)) all.add(each)
    for (const each of all) signalTo(each, 'SIGKILL')
  }

  /** Resolves when nothing is left of an interrupted command, which its own processes get a second for. */
  async sweep(): Promise<void> {
    const deadline = hostTime() + GRACE
    while (stillRunning(this.#family).length > 0 && hostTime() < deadline) {
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
        // Node throws what it finds wrong by itself: an empty name, a script on Windows.
        resolve(notStarted(file, error as NodeJS.ErrnoException))
      }
    })
  }

  // A shell that is ended by a signal leaves its own commands running.
  #handOn(): void {
    const signal = this.#interruptedBy
    if (signal === undefined) return
    for (const { pid } of stillRunning(this.#family)) signalTo(pid, signal)
  }
}

/** A process and all below it, so that none of them can start another one any more. */
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
    return failed(NOT_EXECUTABLE, `${file} names an interpreter in its first line that is not there.`)
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
  if (/[\s&|;<>$*]/.test(file)) return `What a shell is to read needs one: exec -- sh -c '${file}'`
  return 'Check its name, and that it may be executed; no shell is involved unless you name one.'
}
