import { type ChildProcess, fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../core/json.ts'
import type { ScenarioSnapshot, ScriptProblem } from '../../core/scenarios/source.ts'
import { type Cancel, type Later, later as realLater } from '../realtime.ts'
import {
  type FromProcess,
  QUESTIONS_FD,
  type Question,
  type QuestionResponse,
  type Task,
  type TaskOutcome,
} from './protocol.ts'

/** The options and callbacks of a process for scripts. */
export interface ProcessOptions {
  readonly folder: string
  /** Megabytes that the scripts may have on the heap together. */
  readonly heapMb: number
  /** Called with each line that a script writes to standard output or standard error. */
  onLine(line: string, stream: 'stdout' | 'stderr'): void
  /** Called when a script has ended the process between two tasks. */
  onLeftover(problem: ScriptProblem): void
  /** Calls back when the time limit of a task is reached; for tests. */
  readonly later?: Later | undefined
}

/** How a task ended, with the files outside the folder that its process has imported so far. */
export interface TaskEnd {
  readonly outcome: TaskOutcome
  readonly outside: readonly string[]
}

interface Running {
  readonly task: Task
  readonly timeout: number
  readonly snapshot: ScenarioSnapshot | undefined
  readonly resolve: (ended: TaskEnd) => void
}

/** Real milliseconds until a process must be ready for its first task; a working one needs far less. */
const START_MS = 60_000

/** Real milliseconds to wait for the rest of the output of an ended process: its own child may keep the streams open. */
const LAST_WORDS_MS = 500

/** The first line that V8 writes to standard error when its memory has run out; pages about its state follow. */
const CRASH = /^<--- Last few GCs --->$|^FATAL ERROR: |^# Fatal /

/**
 * A process for scripts, which performs one task at a time. It is over when a task takes too long, needs too much memory or ends
 * it: the outcome of that task has the reason, and {@link isOver} is true. It is not a thread, since from Node 24 on V8 may end
 * the whole process when the heap of a thread is full.
 */
export class ScriptProcess {
  readonly #options: ProcessOptions
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  #running: Running | undefined
  #cancel: Cancel = () => {}
  #isReady = false
  #over = false
  #isCrashing = false
  #isOutOfMemory = false

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#child = fork(processEntry(), [options.folder], {
      // The flags of this process are not passed on: they may be the loaders of a test runner.
      execArgv: [`--max-old-space-size=${options.heapMb}`],
      env: processEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe', 'pipe'],
    })
    this.#ended = this.#watchEnd()
    // If the process cannot be started, it has no streams, and an error event follows.
    if (this.#child.pid !== undefined) this.#listen()
  }

  #listen(): void {
    this.#child.on('message', (message: FromProcess) => this.#hear(message))
    const { stdout, stderr, stdio } = this.#child
    const questions = stdio[QUESTIONS_FD] as Socket
    onLines(stdout as Socket, (line) => this.#options.onLine(line, 'stdout'))
    onLines(stderr as Socket, (line) => this.#hearError(line))
    onLines(questions, (line) => questions.write(`${this.#answer(JSON.parse(line) as Question)}\n`))
    // Nothing else needs a reference: the time-out of a task keeps this process alive.
    this.#child.unref()
    this.#child.channel?.unref()
    for (const stream of stdio as readonly (Socket | null)[]) {
      // Writes to a process that is over fail; that is ignored.
      stream?.on('error', () => {}).unref()
    }
  }

  /** True when this process accepts no more tasks. */
  get isOver(): boolean {
    return this.#over
  }

  /**
   * Performs one task within `timeout` real milliseconds, counted from when the process is ready for it. The caller must wait for
   * the previous task first.
   */
  perform(task: Task, timeout: number, snapshot?: ScenarioSnapshot): Promise<TaskEnd> {
    return new Promise((resolve) => {
      this.#running = { task, timeout, snapshot, resolve }
      if (this.#over) this.#endTask('was not run: the process for scripts has already ended')
      else {
        this.#limit(this.#isReady ? timeout : START_MS)
        // An error of `send` is ignored: the process has just ended, and its end becomes the outcome.
        if (this.#child.pid !== undefined) this.#child.send(task, () => {})
      }
    })
  }

  async close(): Promise<void> {
    this.#over = true
    this.#endTask('was stopped, because its script is being loaded again or the emulator is closing.')
    this.#child.ref()
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  // Messages that a script, or a package that it imports, sends itself arrive here, too.
  #hear(message: FromProcess | string | null): void {
    if (typeof message !== 'object' || message === null) return
    if ('ready' in message) this.#ready()
    else if ('uncaught' in message) this.#hearUncaught(message.uncaught)
    else if (message.id === this.#running?.task.id && isObject(message.outcome)) this.#settle(message)
  }

  #ready(): void {
    if (this.#isReady) return
    this.#isReady = true
    if (this.#running !== undefined) this.#limit(this.#running.timeout)
  }

  #hearUncaught(problem: ScriptProblem): void {
    this.#over = true
    if (this.#running === undefined) this.#options.onLeftover(problem)
    else this.#settle({ outcome: { problem }, outside: [] })
    void this.close()
  }

  #hearError(line: string): void {
    this.#isCrashing ||= CRASH.test(line)
    if (!this.#isCrashing) this.#options.onLine(line, 'stderr')
    else this.#isOutOfMemory ||= line.includes('out of memory')
  }

  #answer(question: Question): string {
    const snapshot = this.#running?.task.id === question.id ? this.#running.snapshot : undefined
    try {
      return JSON.stringify(respondTo(question, snapshot))
    } catch (error) {
      return JSON.stringify({ refusal: `cannot be shown: ${String(error)}` } satisfies QuestionResponse)
    }
  }

  #limit(ms: number): void {
    const running = this.#running
    const { later = realLater } = this.#options
    this.#cancel()
    // A reply that has arrived while this process was busy counts: setImmediate handles it before the time-out.
    this.#cancel = later(ms, () =>
      setImmediate(() => {
        if (this.#running === running) this.#timeOut(ms)
      }),
    )
  }

  #timeOut(ms: number): void {
    this.#endTask(
      this.#isReady
        ? `did not finish within ${ms} ms, and was stopped. Look for an endless loop or a promise that never settles, and do less at a time.`
        : `was not run: the process for scripts was not ready within ${ms} ms. Try again when the machine is less busy.`,
    )
    void this.close()
  }

  /** Resolves when the process has ended and all its output has been read. */
  #watchEnd(): Promise<void> {
    return new Promise((resolve) => {
      let isLeftover = false
      let cancel: Cancel = () => {}
      const end = (message: string) => {
        cancel()
        this.#over = true
        if (isLeftover) this.#options.onLeftover({ file: this.#options.folder, message })
        else this.#endTask(message)
        resolve()
      }
      this.#child.once('error', (error) => end(cannotStart(error)))
      this.#child.once('exit', (code, signal) => {
        isLeftover = !this.#over && this.#running === undefined
        this.#over = true
        cancel = realLater(LAST_WORDS_MS, () => end(this.#reason(code, signal)))
      })
      this.#child.once('close', (code, signal) => end(this.#reason(code, signal)))
    })
  }

  #reason(code: number | null, signal: NodeJS.Signals | null): string {
    if (this.#isOutOfMemory) {
      return `needs more than the ${this.#options.heapMb} MB of memory that all scripts share, and was stopped. Look for a list or a string that never stops growing, and keep less data at a time.`
    }
    if (signal === 'SIGKILL')
      return 'was ended by the system, most likely because memory was low. Keep less data at a time.'
    const how = signal === null ? `as process.exit(${code}) does` : `by ${signal}`
    return `has ended its process, ${how}. A script must not end its process; return instead.`
  }

  #endTask(message: string): void {
    if (this.#running === undefined) return
    this.#settle({ outcome: { problem: { file: this.#running.task.file, message } }, outside: [] })
  }

  #settle(ended: TaskEnd): void {
    this.#cancel()
    this.#running?.resolve(ended)
    this.#running = undefined
  }
}

/** Why there is no process for scripts. */
export function cannotStart(error: unknown): string {
  return `was not run: the process for scripts cannot be started (${String(error)}). Scripts need the right to run ${process.execPath}.`
}

function respondTo(question: Question, snapshot: ScenarioSnapshot | undefined): QuestionResponse {
  if (snapshot === undefined) return { refusal: 'The sandbox can be read only while a function runs.' }
  return { records: question.kind === 'records' ? snapshot.records() : snapshot.state(question.collection) }
}

/** Characters of a line that are kept. */
const MAX_LINE_LENGTH = 10_000

function onLines(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH)
    for (const line of lines) if (line !== '') take(line.slice(0, MAX_LINE_LENGTH))
  })
  stream.on('end', () => {
    if (rest !== '') take(rest)
  })
}

/** The script of the process: next to the bundle, or in `dist` for a checkout, since Node 20 cannot run TypeScript. */
export function processEntry(here: string = import.meta.url): string {
  const path = here.endsWith('.ts') ? '../../../dist/scenario-process.js' : './scenario-process.js'
  return fileURLToPath(new URL(path, here))
}

/** The environment for scripts: that of the emulator, without the flags for its Node. */
function processEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...env } = process.env
  return env
}
