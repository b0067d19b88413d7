import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { formatInstant } from '../core/time/instant.ts'

/** Timers and requests of a client in one virtual second. No client that waits between its requests needs as many. */
const MAX_A_SECOND = 500

/** What a client does: its requests, from their start to the end of their response, and its timers. */
export class ClientActivity {
  /** The unfinished requests. Their value is undefined once the response has arrived, although the client has not read it. */
  readonly #requests = new Map<object, () => string | undefined>()
  #counts = new Map<string, number>()
  #second = Number.NEGATIVE_INFINITY
  #changes = 0

  /** Differs from before when a request has begun, has been answered or has ended. */
  get state(): string {
    return `${this.#changes} ${this.open.length}`
  }

  /** The names of the requests without a whole response. */
  get open(): readonly string[] {
    return [...this.#requests.values()].flatMap((name) => name() ?? [])
  }

  begin(request: object, name: string, isWhole = () => false): void {
    // The control interface belongs to the test, not to the client.
    if (name.includes('/__emulator')) return
    this.#requests.set(request, () => (isWhole() ? undefined : name))
    this.#changes += 1
    this.add(name)
  }

  end(request: object): void {
    if (this.#requests.delete(request)) this.#changes += 1
  }

  /** Counts a timer or a request. */
  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** Throws when the client does too much in one virtual second, and names what. @param now virtual milliseconds */
  refuseEndless(now: number): void {
    if (now - this.#second >= 1_000) [this.#second, this.#counts] = [now, new Map()]
    const counts = [...this.#counts].sort((a, b) => b[1] - a[1])
    if (counts.reduce((sum, [, count]) => sum + count, 0) <= MAX_A_SECOND) return
    const most = counts.slice(0, 3).map(([name, count]) => `${name} (${count} times)`)
    throw new Error(
      `The client does not become quiet: the synced clocks stopped at ${formatInstant(now)}, after more than ${MAX_A_SECOND} of its timers and requests in one virtual second. Most frequent: ${most.join(', ')}. Let it wait longer between its requests.`,
    )
  }
}

/** Follows the requests that this process sends with `fetch`, undici and `node:http`. @returns a function that ends it */
export function followRequests(activity: ClientActivity): () => void {
  const end = (message: unknown): void => activity.end((message as { request: object }).request)
  const channels: Record<string, (message: unknown) => void> = {
    'undici:request:create': (message) => {
      const { request } = message as { request: { method: string; origin: string; path: string } }
      activity.begin(request, `${request.method} ${request.origin}${request.path}`)
    },
    'undici:request:trailers': end,
    'undici:request:error': end,
    'http.client.request.start': (message) => {
      const { request } = message as { request: ClientRequest & { res?: IncomingMessage } }
      const name = `${request.method} ${request.protocol}//${request.getHeader('host')}${request.path}`
      activity.begin(request, name, () => request.res?.complete === true)
      request.once('close', () => activity.end(request))
    },
  }
  for (const [name, listener] of Object.entries(channels)) subscribe(name, listener)
  return () => {
    for (const [name, listener] of Object.entries(channels)) unsubscribe(name, listener)
  }
}
