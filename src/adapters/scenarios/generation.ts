import type { FunctionRef } from '../../core/scenarios/row.ts'
import type { ScenarioCommand, ScenarioSnapshot, ScriptProblem } from '../../core/scenarios/source.ts'
import { ScenarioError } from './problem.ts'
import type { LoadedScript, Task } from './protocol.ts'
import { cannotStart, type ProcessOptions, ScriptProcess, type TaskEnd } from './script-process.ts'

/**
 * How long scripts may take, in real milliseconds, and what they may use. Nothing but a script without an end is to reach these
 * times, also where a machine has ten other things to do.
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
 * The scripts of one folder as they were at one moment, in one process at a time. A script that hangs, needs too much memory or
 * exits ends the process; the next task gets a new one, and the scripts are loaded into it as they are called.
 */
export class ScriptGeneration {
  /** The files outside the folder that have been imported. */
  readonly outside = new Set<string>()
  /** The fingerprint of the files that the generation was made of, once that is known. */
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

  /** True when nothing can be asked of it any more. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** Evaluates a script. The problem is whatever keeps it from being evaluated. */
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

  /** Gives the process up once what has been asked of it is done. */
  async retire(): Promise<void> {
    await this.#inTurn(() => this.close())
  }

  /** Gives the process up at once. */
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

  // In a process that has taken the place of another, the script has to be what it was.
  async #reload(file: string): Promise<void> {
    if (this.#process?.isOver === false && this.#loaded.has(file)) return
    if (this.fingerprint !== undefined && (await this.#options.print()) !== this.fingerprint) {
      const message =
        'has changed on disk since the version in force was loaded, and that version has been stopped. Save a version that is valid.'
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

  // A script that hangs must not use up the time of another, so that one waits for the other.
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(run)
    this.#tail = turn.catch(() => {})
    return turn
  }
}
