import type { PendingWork } from '../time/turn.ts'

/** What happens outside the event queue of a sandbox: webhooks in flight, calls of functions of scenarios. */
export class Deliveries implements PendingWork {
  readonly #works = new Set<PendingWork>()
  #check: ((url: string) => string | undefined) | undefined

  /** Adds work that an advance waits for. @returns removes it */
  add(work: PendingWork): () => void {
    this.#works.add(work)
    return () => this.#works.delete(work)
  }

  /** Sets the check of the URLs of new subscriptions; until then none is refused. */
  checkWith(check: (url: string) => string | undefined): void {
    this.#check = check
  }

  /** Why a URL may not receive webhooks; undefined when it may. */
  problemOf(url: string): string | undefined {
    return this.#check?.(url)
  }

  get isIdle(): boolean {
    for (const work of this.#works) if (!work.isIdle) return false
    return true
  }

  get isRequesting(): boolean {
    for (const work of this.#works) if (work.isRequesting) return true
    return false
  }

  // Each may cause work for another, so all must be idle at the same time.
  async whenIdle(): Promise<void> {
    while (!this.isIdle) for (const work of this.#works) await work.whenIdle()
  }
}
