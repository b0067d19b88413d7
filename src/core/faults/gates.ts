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
  /** Cuts its connection. */
  readonly abort: () => void
}

/** Aborted requests that one warning names. */
const MAX_NAMED = 20

/** What waits at the gates of one sandbox. Requests are in memory, since a connection ends with the process; webhooks are records. */
export class Gates implements PendingWork {
  readonly isRequesting = false
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

  async whenIdle(): Promise<void> {
    await this.#turn
  }

  /** The requests and webhooks that wait, in order of arrival. @param gate absent: at all gates */
  held(gate?: string): HeldAtGate[] {
    const requests = [...this.#waiting.values()].map(({ held }) => held)
    const webhooks = atGate(this.#store.begin(), gate).map(
      ({ id, type, url, faults, created_at: since }): HeldAtGate => {
        return { id, gate: faults?.gate?.rule ?? '', at: 'webhook', name: `${type} to ${url}`, since }
      },
    )
    return [...requests.filter((each) => gate === undefined || each.gate === gate), ...webhooks]
  }

  /** Calls the listener when a request has arrived or has gone on. @returns removes it */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Holds a request until it is released. @returns false if too many wait: it passes
   * @param enough number of requests at one place of a gate that opens it
   */
  hold(waiting: Waiting, enough = Number.POSITIVE_INFINITY): boolean {
    if (this.size >= MAX_AT_GATES) return false
    const { id, gate, at } = waiting.held
    this.#waiting.set(id, waiting)
    this.#unfollow ??= this.#store.onCommit((commit) => this.#follow(commit))
    this.#tell()
    const here = [...this.#waiting.values()].filter(({ held }) => held.gate === gate && held.at === at)
    if (here.length >= enough) this.release(here.map(({ held }) => held))
    return true
  }

  /** Lets requests go on, in this order. Others are ignored. */
  release(held: readonly Pick<HeldAtGate, 'id'>[]): void {
    for (const { id } of held) this.#take(id)?.pass()
    this.#turn ??= nextTurn().then(() => {
      this.#turn = undefined
    })
  }

  /** Cuts the connections of requests. Others are ignored. */
  abort(held: readonly Pick<HeldAtGate, 'id'>[]): void {
    for (const { id } of held) this.#take(id)?.abort()
  }

  /** Aborts all requests, and reports them. */
  abandon(): void {
    for (const { held, abort } of [...this.#waiting.values()]) {
      this.leave(held.id, true)
      abort()
    }
  }

  /**
   * Forgets a request whose client has left. @returns whether it waited until now
   * @param isCut the emulator has cut its connection, which is reported
   */
  leave(id: string, isCut: boolean): boolean {
    const waiting = this.#take(id)
    if (waiting !== undefined && isCut) {
      // All of them are cut in one turn of the event loop.
      if (this.#aborted.length === 0) void nextTurn().then(() => this.#report())
      this.#aborted.push(waiting.held)
    }
    return waiting !== undefined
  }

  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (this.#waiting.delete(id)) this.#tell()
    if (this.size > 0) return waiting
    this.#unfollow?.()
    this.#unfollow = undefined
    return waiting
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }

  #report(): void {
    const names = this.#aborted.map(({ id, name, gate }) => `${name} (${id}) at ${gate}`)
    this.#aborted = []
    const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : ''
    const shown = names.slice(0, MAX_NAMED).join(', ')
    this.#warn(`while requests waited at gates. They were aborted: ${shown}${more}.`)
  }

  // A gate opens when its rule is removed, and when its event has run.
  #follow({ changes }: Commit): void {
    const over = changes.filter(({ after }) => after === undefined)
    const isOver = ({ held: { gate } }: Waiting) =>
      over.some(({ table, id }) => {
        if (table === faultRules.name) return id === gate
        return table === SCHEDULE && id === eventId(GATE_RELEASE, `faults/${gate}`)
      })
    if (over.length > 0) this.release([...this.#waiting.values()].filter(isOver).map(({ held }) => held))
  }
}
