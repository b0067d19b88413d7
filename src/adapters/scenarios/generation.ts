import type { FunctionRef } from '../../core/scenarios/row.ts'
import type { ScenarioCommand, ScenarioSnapshot, ScriptProblem } from '../../core/scenarios/source.ts'
import { ScenarioError } from './problem.ts'
import type { LoadedScript, Task } from './protocol.ts'
import { cannotStart, type ProcessOptions, ScriptProcess, type TaskEnd } from './script-process.ts'

/**
 * Limits on the time of scripts, in real milliseconds, and on their memory. The times are long enough that only a script that
 * never ends reaches them, even on a busy machine.
 */
export interface ScriptLimits {
  /** To load one script with what it imports. Default 10,000. */
  readonly loadMs: number
  /** For one call of a function. Default 5,000. */
  readonly callMs: number
  /** Megabytes on the heap for all scripts together. Default 256. */
  readonly heapMb: number
}

export const SCRIPT_LIMITS: ScriptLimits = { loadMs: 10_000, callMs: 5_000, heapMb: 256 }

export interface GenerationOptions extends Omit<ProcessOptions, 'heapMb'> {
  readonly limits: ScriptLimits
  /** The fingerprint of the files as they are now. */
  print(): Promise<string>
}

/**
 * The scripts of one folder at one moment, in one process at a time. A script that hangs, needs too much memory or exits ends
 * the process. The next task gets a new process, and each script is loaded into it when it is called.
 */
export class ScriptGeneration {
  /** The files outside the folder that have been imported. */
  readonly outside = new Set<string>()
  /** The fingerprint of the files that the generation was loaded from; undefined until it is known. */
  fingerprint: string | undefined
  readonly #options: GenerationOptions
  readonly #loaded = new Set<string>()
  #process: ScriptProcess | undefined
  #closed = false
  #tasks = 0
  #tail: Promise<unknown> = Promise.resolve()

  constructor(options: GenerationOptions) {
    this.#options = options
  }

  /** True when it accepts no more tasks. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** Evaluates a script. Resolves with a problem if it cannot be evaluated. */
  load(file: string): Promise<LoadedScript | ScriptProblem> {
    return this.#inTurn(() => this.#load(file))
  }

  /** Calls a function of a script. Rejects with a {@link ScenarioError}. */
  call(file: string, ref: FunctionRef, snapshot: ScenarioSnapshot): Promise<readonly ScenarioCommand[]> {
    return this.#inTurn(async () => {
      if (this.#closed) throw new ScenarioError({ file, message: 'is closed' })
      await this.#reload(file)
      const { now, event, record, collections } = snapshot
      const head = { now, collections, ...(event && { event }), ...(record !== undefined && { record }) }
      const task: Task = { id: this.#nextTask(), kind: 'call', file, ref, snapshot: head }
      const { outcome } = await this.#perform(task, this.#options.limits.callMs, snapshot)
      if ('commands' in outcome) return outcome.commands
      throw new ScenarioError('problem' in outcome ? outcome.problem : { file, message: 'was not called' })
    })
  }

  /** Closes the process after its pending tasks. */
  async retire(): Promise<void> {
    await this.#inTurn(() => this.close())
  }

  /** Closes the process at once. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#process?.close()
  }

  async #load(file: string): Promise<LoadedScript | ScriptProblem> {
    const task: Task = { id: this.#nextTask(), kind: 'load', file }
    const { outcome, outside } = await this.#perform(task, this.#options.limits.loadMs)
    for (const path of outside) this.outside.add(path)
    if ('loaded' in outcome) {
      this.#loaded.add(file)
      return outcome.loaded
    }
    return 'problem' in outcome ? outcome.problem : { file, message: 'was not loaded' }
  }

  // A new process that replaces another one must not load a script that has changed since.
  async #reload(file: string): Promise<void> {
    if (this.#process?.isOver === false && this.#loaded.has(file)) return
    if (this.fingerprint !== undefined && (await this.#options.print()) !== this.fingerprint) {
      const message =
        'has changed on disk since its active version was loaded, and that version was stopped. Save a valid version.'
      throw new ScenarioError({ file, message })
    }
    const loaded = await this.#load(file)
    if ('message' in loaded) throw new ScenarioError(loaded)
  }

  #perform(task: Task, timeout: number, snapshot?: ScenarioSnapshot): Promise<TaskEnd> {
    const failed = (message: string) =>
      Promise.resolve({ outcome: { problem: { file: task.file, message } }, outside: [] })
    if (this.#closed) return failed('is closed')
    try {
      if (this.#process === undefined || this.#process.isOver) {
        this.#loaded.clear()
        const { limits, ...options } = this.#options
        this.#process = new ScriptProcess({ ...options, heapMb: limits.heapMb })
      }
    } catch (error) {
      return failed(cannotStart(error))
    }
    return this.#process.perform(task, timeout, snapshot)
  }

  #nextTask(): number {
    this.#tasks += 1
    return this.#tasks
  }

  // One task at a time: a script that hangs must not use up the time of another one.
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(run)
    this.#tail = turn.catch(() => {})
    return turn
  }
}
