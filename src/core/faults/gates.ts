import type { Commit } from '../state/commit.ts'
import type { Store } from '../state/store.ts'
import { nextTurn } from '../time/real.ts'
import { eventId, type HeldAtGate, SCHEDULE } from '../time/scheduler.ts'
import type { PendingWork } from '../time/turn.ts'
import { atGate, GATE_RELEASE, MAX_AT_GATES } from '../webhooks/delivery.ts'
import { faultRules } from './rule.ts'

interface Waiting {
  readonly held: HeldAtGate
  readonly pass: () => void
  readonly abort: () => void
}

/** Aborted requests that one warning names. */
const MAX_NAMED = 20

/** What waits at the gates of one sandbox. Requests are in memory, since a connection ends with the process; webhooks are records. */
export class Gates implements PendingWork {
  readonly #store: Store
  readonly #warn: (message: string) => void
  readonly #waiting = new Map<string, Waiting>()
  readonly #listeners = new Set<() => void>()
  #unfollow: (() => void) | undefined
  #turn: Promise<void> | undefined
  #aborted: HeldAtGate[] = []

  /** @param warn called with the requests that were aborted, as the end of a sentence */
  constructor(store: Store, warn: (message: string) => void) {
    this.#store = store
    this.#warn = warn
  }

  /** Number of requests that wait. */
  get size(): number {
    return this.#waiting.size
  }

  /** Whether every released request has run: its steps run in the turn of its release. */
  get isIdle(): boolean {
    return this.#turn === undefined
  }

  get isRequesting(): boolean {
    return false
  }

  async whenIdle(): Promise<void> {
    await this.#turn
  }

  /** The requests and webhooks that wait, in order of arrival. @param gate absent: at all gates */
  held(gate?: string): HeldAtGate[] {
    const requests = [...this.#waiting.values()].map(({ held }) => held)
    const webhooks = atGate(this.#store.begin(), gate).map((delivery) => ({
      id: delivery.id,
      gate: delivery.faults?.gate?.rule ?? '',
      at: 'webhook' as const,
      name: `${delivery.type} to ${delivery.url}`,
      since: delivery.created_at,
    }))
    return [...requests.filter((each) => gate === undefined || each.gate === gate), ...webhooks]
  }

  /** Calls the listener when a request has arrived, or anything has changed. @returns removes it */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener)
    const unfollow = this.#store.onCommit(listener)
    return () => {
      this.#listeners.delete(listener)
      unfollow()
    }
  }

  /**
   * Resolves when a request is released; never, when it is aborted. Undefined when too many wait: then it passes.
   * @param abort cuts its connection
   */
  hold(
    held: HeldAtGate,
    { waiting: enough }: { readonly waiting?: number | undefined },
    abort: () => void,
  ): Promise<void> | undefined {
    if (this.size >= MAX_AT_GATES) return undefined
    return new Promise((pass) => {
      this.#waiting.set(held.id, { held, pass, abort })
      this.#unfollow ??= this.#store.onCommit((commit) => this.#follow(commit))
      for (const listener of [...this.#listeners]) listener()
      const here = [...this.#waiting.values()].map((each) => each.held)
      const same = here.filter(({ gate, at }) => gate === held.gate && at === held.at)
      if (enough !== undefined && same.length >= enough) this.release(same)
    })
  }

  /** Lets requests go on, in this order. Others are ignored. */
  release(held: readonly Pick<HeldAtGate, 'id'>[]): void {
    const released = held.flatMap(({ id }) => this.#waiting.get(id) ?? [])
    for (const { held, pass } of released) {
      this.#remove(held.id)
      pass()
    }
    if (released.length === 0) return
    const turn = nextTurn().then(() => {
      if (this.#turn === turn) this.#turn = undefined
    })
    this.#turn = turn
  }

  /** Cuts the connections of requests. Others are ignored. */
  abort(held: readonly Pick<HeldAtGate, 'id'>[]): void {
    for (const { id } of held) {
      const { abort } = this.#waiting.get(id) ?? {}
      this.#remove(id)
      abort?.()
    }
  }

  /** Forgets a request whose client has left, or whose connection the emulator has cut. @returns whether it waited until now */
  leave(id: string, isCut: boolean): boolean {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return false
    this.#remove(id)
    if (!isCut) return true
    if (this.#aborted.length === 0) void nextTurn().then(() => this.#report())
    this.#aborted.push(waiting.held)
    return true
  }

  #remove(id: string): void {
    this.#waiting.delete(id)
    if (this.size > 0) return
    this.#unfollow?.()
    this.#unfollow = undefined
  }

  // All requests are aborted in one turn of the event loop.
  #report(): void {
    const aborted = this.#aborted
    this.#aborted = []
    const names = aborted.slice(0, MAX_NAMED).map(({ id, name, gate }) => `${name} (${id}) at ${gate}`)
    const more = aborted.length > MAX_NAMED ? `, and ${aborted.length - MAX_NAMED} more` : ''
    this.#warn(`while requests waited at gates. They were aborted: ${names.join(', ')}${more}.`)
  }

  #follow({ changes }: Commit): void {
    for (const { table, id, after } of changes) {
      if (after !== undefined) continue
      const isOver = (gate: string) =>
        table === faultRules.name
          ? gate === id
          : table === SCHEDULE && eventId(GATE_RELEASE, `faults/${gate}`) === id
      const held = [...this.#waiting.values()].map((each) => each.held)
      this.release(held.filter(({ gate }) => isOver(gate)))
    }
  }
}
