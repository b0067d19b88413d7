import { Refusal } from '../../core/errors.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { carryOut, failCall, isPending, nextCall, snapshotFor } from '../../core/scenarios/carry-out.ts'
import { circleOf } from '../../core/scenarios/hooks.ts'
import { type ScenarioCall, scenarioCalls } from '../../core/scenarios/row.ts'
import type { ScenarioCommand, ScenarioSource } from '../../core/scenarios/source.ts'
import { ScriptFault } from '../../core/scenarios/source.ts'
import { real } from '../../core/time/real.ts'
import type { PendingWork } from '../../core/time/turn.ts'

interface CallerOptions {
  readonly sandbox: Sandbox
  readonly source: Pick<ScenarioSource, 'get' | 'call'>
  /** Called with each line that a function writes to the log. */
  readonly onLog: (text: string, call: ScenarioCall) => void
  /** Waits before the commands of a function that has returned are applied. */
  readonly returned?: ((call: string) => Promise<void>) | undefined
}

/**
 * Calls the functions of the scenario of one sandbox, one at a time and in the order in which the calls were left. The commands
 * of a function are applied in one transaction after it has returned. An interrupted call is repeated.
 */
export class FunctionCaller implements PendingWork {
  readonly #options: CallerOptions
  /** Each is called without an argument when nothing is pending, or with the reason why the sandbox cannot be written. */
  #waiters: ((reason?: unknown) => void)[] = []
  #stops: (() => void)[] = []
  #isWorking = false

  constructor(options: CallerOptions) {
    this.#options = options
  }

  /** Starts with the calls that are pending, and continues with later ones. */
  start(): void {
    if (this.#stops.length > 0) return
    const { sandbox } = this.#options
    this.#stops = [
      sandbox.store.onCommit(({ changes }) => {
        // A call that could not be written is tried again after any later commit.
        const isLeft = nextCall(sandbox) !== undefined
        if (isLeft || changes.some(({ table }) => table === scenarioCalls.name)) this.#plan()
      }),
      sandbox.listeners.onReplaced(() => this.#plan()),
    ]
    this.#plan()
  }

  /** Stops calling functions. The commands of a function that is running are not applied. */
  stop(): void {
    for (const stop of this.#stops) stop()
    this.#stops = []
    this.#answerWaiters()
  }

  get isIdle(): boolean {
    if (!this.#isRunning) return true
    return !this.#isWorking && nextCall(this.#options.sandbox) === undefined
  }

  // A function returns commands and sends no requests.
  readonly isRequesting = false

  /** Resolves when {@link isIdle} is true. Rejects with the reason when the sandbox cannot be written. */
  whenIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    this.#plan()
    return new Promise((resolve, reject) => {
      this.#waiters.push((reason) => (reason === undefined ? resolve() : reject(reason)))
    })
  }

  get #isRunning(): boolean {
    return this.#stops.length > 0 && this.#options.sandbox.listeners.closedReason === undefined
  }

  // A microtask, so that calls never start inside another transaction.
  readonly #plan = (): void => {
    real.queueMicrotask(() => void this.#work())
  }

  async #work(): Promise<void> {
    if (this.#isWorking || !this.#isRunning) return
    this.#isWorking = true
    try {
      for (let call = this.#next(); call !== undefined; call = this.#next()) await this.#make(call)
    } catch (error) {
      if (this.#isRunning) {
        this.#options.sandbox.options.onDefect(error)
        this.#answerWaiters(error)
      }
    }
    this.#isWorking = false
    if (this.isIdle) this.#answerWaiters()
  }

  #next(): ScenarioCall | undefined {
    return this.#isRunning ? nextCall(this.#options.sandbox) : undefined
  }

  async #make(call: ScenarioCall): Promise<void> {
    const { sandbox, source, returned } = this.#options
    const circle = circleOf(call)
    if (circle !== undefined) {
      failCall(sandbox, call, circle)
      return
    }
    const [made] = await Promise.allSettled([
      source.call(call.scenario, call.ref, snapshotFor(sandbox, call)),
    ])
    await returned?.(call.id)
    if (!this.#isLeft(call)) return
    sandbox.recording.add({ returned: call.id })
    try {
      if (made.status === 'rejected') throw made.reason
      this.#carryOut(call, made.value)
    } catch (error) {
      if (!this.#isLeft(call)) return
      if (error instanceof Refusal && error.code === 'storage_unavailable') throw error
      failCall(sandbox, call, error instanceof Error ? error.message : String(error))
    }
  }

  // The sandbox may have been reset, or the scenario stopped, while the function was running.
  #isLeft(call: ScenarioCall): boolean {
    return this.#isRunning && isPending(this.#options.sandbox, call)
  }

  #carryOut(call: ScenarioCall, commands: readonly ScenarioCommand[]): void {
    const { sandbox, source, onLog } = this.#options
    try {
      for (const text of carryOut(sandbox, call, commands)) onLog(text, call)
    } catch (error) {
      if (error instanceof Refusal) throw error
      if (!(error instanceof ScriptFault)) {
        sandbox.options.onDefect(error)
        throw new Error('The emulator failed to run the commands of the function; its log has the cause.')
      }
      // An error that a script throws has its own place; for a command only the file is known.
      const file = source.get(call.scenario)?.file
      throw file === undefined ? error : new ScriptFault(`${file}: ${error.message}`)
    }
  }

  #answerWaiters(reason?: unknown): void {
    for (const answer of this.#waiters.splice(0)) answer(reason)
  }
}
