import { refuse } from '../errors.ts'
import type { AdvanceResult } from '../time/scheduler.ts'
import { InstantLimit } from '../time/turn.ts'

/** What runs events in turns. */
type Runner = 'advance' | 'backlog'

/** The running advance up to now, or the last one; null before the first one, and after the state was replaced. */
export interface AdvanceState {
  readonly running: boolean
  readonly result: AdvanceResult | null
}

const NO_ADVANCE: AdvanceState = { running: false, result: null }

/** The advances of a sandbox, and the backlog of its running clock: at most one of them runs events in turns. */
export class Advances {
  readonly instantLimit: InstantLimit
  readonly #name: string
  #running: Runner | undefined
  #end: Promise<void> = Promise.resolve()
  #latest = () => NO_ADVANCE

  constructor(name: string, mostEvents: number) {
    this.#name = name
    this.instantLimit = new InstantLimit(mostEvents)
  }

  /** While one runs, requests run no events themselves and are handled at the time reached. */
  get running(): Runner | undefined {
    return this.#running
  }

  /** Resolves at the end of the advance that began last. */
  get ended(): Promise<void> {
    return this.#end
  }

  get latest(): AdvanceState {
    return this.#latest()
  }

  /** Begins one; an advance replaces a backlog, which then ends. @returns ends it */
  begin(runner: Runner): () => void {
    this.#running = runner
    let ended = (): void => {}
    if (runner === 'advance')
      this.#end = new Promise((resolve) => {
        ended = resolve
      })
    return () => {
      if (this.#running === runner) this.#running = undefined
      ended()
    }
  }

  /** Sets how the latest advance is read. */
  show(latest: () => AdvanceState): void {
    this.#latest = latest
  }

  /** Forgets what was before a replacement of the state. */
  reset(): void {
    this.#latest = () => NO_ADVANCE
    this.instantLimit.reset()
  }

  /** Refuses with `conflict` while the clock is being advanced on behalf of another request. */
  refuseOther(): void {
    if (this.#running !== 'advance') return
    refuse('conflict', {
      detail: `The clock of the sandbox "${this.#name}" is being advanced on behalf of another request.`,
      mitigation:
        'Send the request again after that request has its response. To end the advance earlier, close the connection of that request.',
    })
  }
}
