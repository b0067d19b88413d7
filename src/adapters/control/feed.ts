import type { ServerResponse } from 'node:http'
import { refuse } from '../../core/errors.ts'
import { type Cancel, type Later, later as realLater } from '../realtime.ts'

/** Feeds that one process serves at a time. */
export const MAX_FEEDS = 100

/** Bytes that may wait for one reader. What happens beyond that is counted, not kept. */
const MAX_WAITING = 1_048_576

/** Real milliseconds between two looks at every feed; the other times are counted in these. */
const PULSE = 1_000

/** After so many pulses a comment shows everything in between that the connection is alive. */
const HEARTBEAT = 15

/** So many pulses may a reader leave the full buffer standing before it is cut. */
const PATIENCE = 30

/** Sends one event to the reader. */
export type Tell = (type: string, data: object) => void

/** What a feed is about. */
export interface FeedSource {
  /** What the reader is told first. */
  hello(): object
  /** Begins to tell what happens. @returns stops telling */
  listen(tell: Tell): () => void
  /** Whether that which the feed is about is still there; asked every second. */
  isThere(): boolean
}

/** What ends a feed. */
export interface FeedEnds {
  /** Aborted when the reader has gone. */
  readonly gone: AbortSignal
  /** Aborted when the emulator is being closed. */
  readonly closing?: AbortSignal | undefined
}

/**
 * The open feeds of one process: server-sent events, each to one reader. Nothing is kept for a reader but what its
 * connection buffers, up to {@link MOST_WAITING}; there is no timer and no listener while nobody reads.
 */
export class Feeds {
  readonly #open = new Set<Feed>()
  readonly #heeded = new WeakSet<AbortSignal>()
  readonly #later: Later
  #cancel: Cancel | undefined

  /** @param later calls back after so many real milliseconds; for tests */
  constructor(later: Later = realLater) {
    this.#later = later
  }

  get size(): number {
    return this.#open.size
  }

  /** Takes a place, or refuses when none is free. @returns writes the feed, as the response to its request */
  open(source: FeedSource, { gone, closing }: FeedEnds): (res: ServerResponse) => void {
    if (this.#open.size >= MAX_FEEDS) {
      refuse('conflict', {
        detail: `${MAX_FEEDS} feeds of events are open, which is as many as one emulator serves.`,
        mitigation:
          'Close one of them, or ask from time to time: GET /__emulator/requests?since=<id> lists what is new.',
      })
    }
    const feed = new Feed(source, closing)
    this.#open.add(feed)
    this.#cancel ??= this.#later(PULSE, this.#pulse)
    if (closing !== undefined) this.#endWith(closing)
    const close = () => {
      feed.stop()
      this.#open.delete(feed)
      if (this.#open.size === 0) this.#rest()
    }
    gone.addEventListener('abort', close, { once: true })
    feed.onAbandoned = close
    return (res) => feed.start(res)
  }

  // One listener for all feeds of an emulator: Node warns of more than ten.
  #endWith(closing: AbortSignal): void {
    if (this.#heeded.has(closing)) return
    this.#heeded.add(closing)
    const end = () => {
      for (const feed of this.#open) if (feed.closing === closing) feed.end('the emulator is closing')
    }
    closing.addEventListener('abort', end, { once: true })
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

class Feed {
  readonly #source: FeedSource
  readonly closing: AbortSignal | undefined
  #res: ServerResponse | undefined
  #stop: (() => void) | undefined
  #id = 0
  #age = 0
  /** Events that were not sent since the reader last kept up. */
  #dropped = 0
  /** Pulses since then, or since the end was written. */
  #stuck = 0
  /** Called when a place was taken for a reader who was gone before the response began. */
  onAbandoned: () => void = () => {}

  constructor(source: FeedSource, closing: AbortSignal | undefined) {
    this.#source = source
    this.closing = closing
  }

  start(res: ServerResponse): void {
    this.#res = res
    res.setHeader('Content-Type', 'text/event-stream')
    if (res.req.method === 'HEAD') {
      res.end()
      return
    }
    res.on('drain', () => this.#caughtUp())
    this.#tell('hello', this.#source.hello())
    this.#stop = this.#source.listen(this.#tell)
  }

  /** Stops listening; nothing is told any more. */
  stop(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  /** Tells the reader why, and ends the response. One who does not read is cut. */
  end(reason: string): void {
    this.stop()
    if (this.#dropped > 0) this.#res?.destroy()
    else {
      this.#tell('end', { reason })
      this.#res?.end()
    }
  }

  look(): void {
    this.#age += 1
    if (this.#res === undefined) this.onAbandoned()
    else if (this.#dropped > 0 || this.#res.writableEnded) this.#wait(this.#res)
    else if (!this.#source.isThere()) this.end('the sandbox was removed')
    else if (this.#age % HEARTBEAT === 0) this.#write(':\n\n')
  }

  #wait(res: ServerResponse): void {
    this.#stuck += 1
    if (this.#stuck >= PATIENCE) res.destroy()
  }

  readonly #tell: Tell = (type, data) => {
    // Once something is missing, nothing follows until the reader is told of the gap at its place.
    if (this.#dropped > 0 || (this.#res?.writableLength ?? 0) > MAX_WAITING) {
      this.#dropped += 1
      return
    }
    this.#id += 1
    this.#write(`id: ${this.#id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  #caughtUp(): void {
    const count = this.#dropped
    this.#dropped = 0
    this.#stuck = 0
    if (count > 0) this.#tell('dropped', { count })
  }

  #write(text: string): void {
    const res = this.#res
    if (res !== undefined && !res.writableEnded && !res.destroyed) res.write(text)
  }
}
