import type { ServerResponse } from 'node:http'
import { refuse } from '../../core/errors.ts'
import { type Cancel, type Later, later as realLater } from '../../core/time/realtime.ts'

/** Maximum number of open feeds in one process. */
export const MAX_FEEDS = 100

/** Bytes that may wait for one reader. Events beyond that are counted, not kept. */
const MAX_WAITING = 1_048_576

/** Real milliseconds between two checks of every feed. The next two constants are numbers of these pulses. */
const PULSE = 1_000

/** Pulses between two comments, which show proxies that the connection is alive. */
const HEARTBEAT = 15

/** Pulses that a reader may leave the full buffer unread before it is disconnected. */
const PATIENCE = 30

/** Sends one event to the reader. */
export type Tell = (type: string, data: object) => void

/** The source of the events of a feed. */
export interface FeedSource {
  /** The data of the first event. */
  hello(): object
  /** Begins to send events. @returns stops sending them */
  listen(tell: Tell): () => void
  /** Whether the sandbox of the feed still exists; called every second. */
  isThere(): boolean
}

/**
 * The open feeds of one process: server-sent events, each feed for one reader. Only the buffer of the connection is kept for a
 * reader, up to {@link MAX_WAITING}. Without readers there is no timer and no listener.
 */
export class Feeds {
  readonly #open = new Set<ReturnType<typeof feedTo>>()
  readonly #later: Later
  #cancel: Cancel | undefined

  /** @param later calls back after the given real milliseconds; for tests */
  constructor(later: Later = realLater) {
    this.#later = later
  }

  get size(): number {
    return this.#open.size
  }

  /**
   * Refuses with `conflict` when {@link MAX_FEEDS} are open.
   * @param closing aborted when the emulator closes. Each feed listens to it.
   * @returns opens the feed, as the response to its request
   */
  open(source: FeedSource, closing: AbortSignal): (res: ServerResponse) => void {
    if (this.#open.size >= MAX_FEEDS) {
      refuse('conflict', {
        detail: `${MAX_FEEDS} feeds of events are open, the maximum of one emulator.`,
        mitigation:
          'Close one of them, or poll instead: GET /__emulator/requests?since=<id> lists new requests.',
      })
    }
    return (res) => {
      const feed = feedTo(res, source)
      const end = () => feed.end('the emulator is closing')
      this.#open.add(feed)
      this.#cancel ??= this.#later(PULSE, this.#pulse)
      closing.addEventListener('abort', end)
      res.once('close', () => {
        closing.removeEventListener('abort', end)
        feed.stop()
        this.#open.delete(feed)
        if (this.#open.size === 0) this.#rest()
      })
      feed.start()
    }
  }

  readonly #pulse = (): void => {
    this.#cancel = this.#later(PULSE, this.#pulse)
    for (const feed of this.#open) feed.look()
  }

  #rest(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}

function feedTo(res: ServerResponse, source: FeedSource) {
  let stopHearing: (() => void) | undefined
  let id = 0
  let age = 0
  /** Events that were dropped since the buffer was last empty. */
  let dropped = 0
  /** Pulses since the first dropped event, or since the end was written. */
  let stuck = 0
  return { start, stop, end, look }

  function start(): void {
    res.setHeader('Content-Type', 'text/event-stream')
    if (res.req.method === 'HEAD') {
      res.end()
      return
    }
    res.on('drain', () => caughtUp())
    tell('hello', source.hello())
    stopHearing = source.listen(tell)
  }

  /** Stops listening; no further events are sent. */
  function stop(): void {
    stopHearing?.()
    stopHearing = undefined
  }

  /** Sends the reason and ends the response. Destroys the connection of a reader that does not read. */
  function end(reason: string): void {
    stop()
    if (dropped > 0) res.destroy()
    else {
      tell('end', { reason })
      res.end()
    }
  }

  function look(): void {
    age += 1
    if (dropped > 0 || res.writableEnded) wait()
    else if (!source.isThere()) end('the sandbox was removed')
    else if (age % HEARTBEAT === 0) write(':\n\n')
  }

  function wait(): void {
    stuck += 1
    if (stuck >= PATIENCE) res.destroy()
  }

  function tell(type: string, data: object): void {
    // After a dropped event no event is sent before `dropped`, so that the gap is reported at its place.
    if (dropped > 0 || res.writableLength > MAX_WAITING) {
      dropped += 1
      return
    }
    id += 1
    write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  function caughtUp(): void {
    const count = dropped
    dropped = 0
    stuck = 0
    if (count > 0) tell('dropped', { count })
  }

  function write(text: string): void {
    if (!res.writableEnded && !res.destroyed) res.write(text)
  }
}
