import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { isObject } from '../../kernel/json.ts'
import type { ScenarioSnapshot } from '../../kernel/scenario/commands.ts'
import type { ScriptProblem } from '../../kernel/scenario/source.ts'
import { type Cancel, later } from '../realtime.ts'
import { problemOf } from './problem.ts'
import type { Answer, FromThread, Outcome, Question, Task, ThreadData } from './protocol.ts'
import { workerEntry } from './worker-entry.ts'

/** What a thread needs to know and whom it tells. */
export interface ThreadOptions {
  readonly folder: string
  /** Megabytes that the scripts may have on the heap together. */
  readonly heapMb: number
  /** A line that a script has written to standard output or standard error. */
  onLine(line: string, stream: 'stdout' | 'stderr'): void
  /** A script has ended the thread while nothing was asked of it. */
  onStray(problem: ScriptProblem): void
}

/** How a task ended, with the files outside the folder that its thread has imported so far. */
export interface Ended {
  readonly outcome: Outcome
  readonly outside: readonly string[]
}

interface Running {
  readonly task: Task
  readonly snapshot: ScenarioSnapshot | undefined
  readonly settle: (ended: Ended) => void
  readonly cancel: Cancel
}

/**
 * One worker thread, doing one task at a time. It is over when a task takes too long, needs too much memory or ends it:
 * that task's outcome then says so, and {@link isOver} is true.
 */
export class Thread {
  readonly #options: ThreadOptions
  readonly #worker: Worker
  readonly #answers: MessagePort
  readonly #answered: Int32Array
  #running: Running | undefined
  #over = false
  #ended: Promise<number> | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
    const { port1, port2 } = new MessageChannel()
    const flag = new SharedArrayBuffer(4)
    this.#answers = port1
    this.#answered = new Int32Array(flag)
    const entry = workerEntry()
    const data: ThreadData = { folder: options.folder, answers: port2, flag }
    this.#worker = new Worker(entry.source, {
      eval: entry.eval,
      workerData: data,
      transferList: [data.answers],
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: options.heapMb },
    })
    this.#worker.on('message', (message: FromThread) => this.#hear(message))
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#exited())
    onLines(this.#worker.stdout, (line) => options.onLine(line, 'stdout'))
    onLines(this.#worker.stderr, (line) => options.onLine(line, 'stderr'))
    // Whoever waits for a task is kept alive by its time-out.
    this.#worker.unref()
  }

  /** True when nothing can be asked of this thread any more. */
  get isOver(): boolean {
    return this.#over
  }

  /** Does one task within so many real milliseconds. The caller has waited for the one before. */
  perform(task: Task, timeout: number, snapshot?: ScenarioSnapshot): Promise<Ended> {
    return new Promise((resolve) => {
      // A reply that has come while this process was busy counts: it is heard before the time is called over.
      const cancel = later(timeout, () => setImmediate(() => this.#timeOut(task, timeout)))
      const settle = (ended: Ended) => {
        cancel()
        this.#running = undefined
        resolve(ended)
      }
      this.#running = { task, snapshot, settle, cancel }
      if (this.#over) this.#endTask('was asked of a thread that is over')
      else this.#worker.postMessage(task)
    })
  }

  async close(): Promise<void> {
    this.#over = true
    this.#endTask('was stopped, because its script is being loaded again or the emulator is being closed.')
    // Each ending would add a listener of its own, and a load that hangs is given up whenever something changes.
    this.#ended ??= this.#worker.terminate()
    await this.#ended
  }

  // Whatever a script, or a package that it imports, posts of its own accord comes here as well.
  #hear(message: FromThread | null | undefined): void {
    const running = this.#running
    if (running === undefined || message?.id !== running.task.id) return
    if ('question' in message) this.#answer(message.question, running.snapshot)
    else if (isObject(message.outcome)) running.settle(message)
  }

  #answer(question: Question, snapshot: ScenarioSnapshot | undefined): void {
    try {
      this.#answers.postMessage(answerTo(question, snapshot))
    } catch (error) {
      this.#answers.postMessage({ refusal: `cannot be shown: ${String(error)}` } satisfies Answer)
    }
    Atomics.store(this.#answered, 0, 1)
    Atomics.notify(this.#answered, 0)
  }

  #timeOut(task: Task, timeout: number): void {
    if (this.#running?.task !== task) return
    this.#endTask(
      `did not finish within ${timeout} ms, and was stopped. Look for a loop or a promise without an end, and do less at a time.`,
    )
    void this.close()
  }

  #fail(error: unknown): void {
    this.#over = true
    const { heapMb, onStray, folder } = this.#options
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
      this.#endTask(`needs more than the ${heapMb} MB of memory that scripts have together.`)
      return
    }
    if (this.#running === undefined) onStray(problemOf(error, folder))
    else this.#end({ problem: problemOf(error, this.#running.task.file) })
  }

  #exited(): void {
    this.#over = true
    this.#answers.close()
    this.#endTask('has ended its thread, as process.exit() does. A script must not do that; return instead.')
  }

  #endTask(message: string): void {
    if (this.#running !== undefined) this.#end({ problem: { file: this.#running.task.file, message } })
  }

  #end(outcome: Outcome): void {
    this.#running?.settle({ outcome, outside: [] })
  }
}

function answerTo(question: Question, snapshot: ScenarioSnapshot | undefined): Answer {
  if (snapshot === undefined) return { refusal: 'There is no world while a script is being loaded.' }
  return { records: question.kind === 'batches' ? snapshot.batches() : snapshot.state(question.collection) }
}

/** So much of a line without an end is kept. */
const LONGEST_LINE = 10_000

function onLines(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
    for (const line of lines) take(line.slice(0, LONGEST_LINE))
  })
  stream.on('end', () => {
    if (rest !== '') take(rest)
  })
}
