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

/** What a process of scripts needs to know and whom it tells. */
export interface ProcessOptions {
  readonly folder: string
  /** Megabytes that the scripts may have on the heap together. */
  readonly heapMb: number
  /** A line that a script has written to standard output or standard error. */
  onLine(line: string, stream: 'stdout' | 'stderr'): void
  /** A script has ended the process while nothing was asked of it. */
  onLeftover(problem: ScriptProblem): void
  /** Calls back when the time of a task is over; for tests. */
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

/** Real milliseconds until a process can take its first task: only one that never can needs so long. */
const START_MS = 60_000

/** Real milliseconds for what an ended process has still said; another one that it has started may keep its streams open. */
const LAST_WORDS_MS = 500

/** How V8 begins when its memory has run out, on standard error; pages about its own state follow. */
const CRASH = /^<--- Last few GCs --->$|^FATAL ERROR: |^# Fatal /

/**
 * A process for scripts, doing one task at a time. It is over when a task takes too long, needs too much memory or ends it:
 * that task's outcome then says so, and {@link isOver} is true. A thread would not do: since Node 24, V8 may end the whole
 * process when the heap of a thread is full.
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
      // Those of this process may be the loaders of a test runner.
      execArgv: [`--max-old-space-size=${options.heapMb}`],
      env: processEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe', 'pipe'],
    })
    this.#ended = this.#watchEnd()
    // Without a process there are no streams, and the error follows.
    if (this.#child.pid !== undefined) this.#listen()
  }

  #listen(): void {
    this.#child.on('message', (message: FromProcess) => this.#hear(message))
    const { stdout, stderr, stdio } = this.#child
    const questions = stdio[QUESTIONS_FD] as Socket
    onLines(stdout as Socket, (line) => this.#options.onLine(line, 'stdout'))
    onLines(stderr as Socket, (line) => this.#hearError(line))
    onLines(questions, (line) => questions.write(`${this.#answer(JSON.parse(line) as Question)}\n`))
    // Anyone who waits for a task is kept alive by its time-out.
    this.#child.unref()
    this.#child.channel?.unref()
    for (const stream of stdio as readonly (Socket | null)[]) {
      // A process that is over reads no more.
      stream?.on('error', () => {}).unref()
    }
  }

  /** True when nothing can be asked of this process any more. */
  get isOver(): boolean {
    return this.#over
  }

  /**
   * Does one task within so many real milliseconds, which count from when the process can take it. The caller has waited for
   * the task before.
   */
  perform(task: Task, timeout: number, snapshot?: ScenarioSnapshot): Promise<TaskEnd> {
    return new Promise((resolve) => {
      this.#running = { task, timeout, snapshot, resolve }
      if (this.#over) this.#endTask('was asked of a process that is over')
      else {
        this.#limit(this.#isReady ? timeout : START_MS)
        // When it cannot be sent, the process has just ended, and its end is the outcome.
        if (this.#child.pid !== undefined) this.#child.send(task, () => {})
      }
    })
  }

  async close(): Promise<void> {
    this.#over = true
    this.#endTask('was stopped, because its script is being loaded again or the emulator is being closed.')
    this.#child.ref()
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  // Whatever a script, or a package that it imports, sends of its own accord comes here as well.
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
    // A reply that has come while this process was busy counts: it is heard before the time is called over.
    this.#cancel = later(ms, () =>
      setImmediate(() => {
        if (this.#running === running) this.#timeOut(ms)
      }),
    )
  }

  #timeOut(ms: number): void {
    this.#endTask(
      this.#isReady
        ? `did not finish within ${ms} ms, and was stopped. Look for a loop or a promise without an end, and do less at a time.`
        : `was not run: the process for scripts was not ready within ${ms} ms. Try again when the machine is less busy.`,
    )
    void this.close()
  }

  /** Resolves when the process is gone and everything that it has said has been heard. */
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
      return `needs more than the ${this.#options.heapMb} MB of memory that scripts have together, and was stopped. Look for a list or a text that grows without an end, and keep less at a time.`
    }
    if (signal === 'SIGKILL')
      return 'was ended by the system, most likely for want of memory. Keep less at a time.'
    const how = signal === null ? `as process.exit(${code}) does` : `by ${signal}`
    return `has ended its process, ${how}. A script must not do that; return instead.`
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
  return `was not run: no process for scripts can be started (${String(error)}). Scripts need the right to run ${process.execPath}.`
}

function respondTo(question: Question, snapshot: ScenarioSnapshot | undefined): QuestionResponse {
  if (snapshot === undefined) return { refusal: 'The sandbox can be looked at only while a function runs.' }
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

/** The script that the process runs: beside the bundle, or, in a checkout, where the build has put it. Node 20 runs no TypeScript. */
export function processEntry(here: string = import.meta.url): string {
  const path = here.endsWith('.ts') ? '../../../dist/scenario-process.js' : './scenario-process.js'
  return fileURLToPath(new URL(path, here))
}

/** The environment of scripts is that of the emulator, but flags for its own Node are not for theirs. */
function processEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...env } = process.env
  return env
}
