import type { SandboxClient } from 'agent-workspace-emulator'

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/** The longest delay of `setTimeout`. A longer one, and one that is no positive number, is one millisecond. */
const LONGEST_TIMER = 2 ** 31 - 1

/** The time of the clients of one sandbox: it advances the virtual clock as soon as all of them wait. */
export class VirtualTime {
  readonly #clock: SandboxClient['clock']
  #now: number
  #running = 0
  #sleepers: Sleeper[] = []

  /** @param start the instant of a clock that stands still */
  constructor(clock: SandboxClient['clock'], start: number) {
    this.#clock = clock
    this.#now = start
  }

  readonly now = (): number => this.#now

  readonly sleep = async (ms: number): Promise<void> => {
    const delay = ms >= 1 && ms <= LONGEST_TIMER ? Math.trunc(ms) : 1
    const over = new Promise<void>((wake) => this.#sleepers.push({ until: this.#now + delay, wake }))
    await this.#advance()
    return over
  }

  async run<T>(clients: readonly (() => Promise<T>)[]): Promise<PromiseSettledResult<T>[]> {
    this.#running += clients.length
    const runs = clients.map(async (client) => {
      try {
        return await client()
      } finally {
        this.#running--
        await this.#advance()
      }
    })
    return Promise.allSettled(runs)
  }

  async #advance(): Promise<void> {
    if (this.#sleepers.length === 0 || this.#sleepers.length < this.#running) return
    const next = Math.min(...this.#sleepers.map(({ until }) => until))
    const due = this.#sleepers.filter(({ until }) => until === next)
    this.#sleepers = this.#sleepers.filter(({ until }) => until !== next)
    // The sleepers are still running, so no other call advances the clock at the same time.
    await this.#clock.advance({ to: new Date(next).toISOString() })
    this.#now = next
    for (const { wake } of due) wake()
  }
}
