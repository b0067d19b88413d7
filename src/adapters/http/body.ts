import type { IncomingMessage } from 'node:http'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { announcesBody, discardBody, sendContinue } from './discard.ts'
import { LARGE_BODY_BYTES, largeBodyGate, type Release } from './large-body-gate.ts'

/** How far a body is read. */
export interface BodyOptions {
  /** The most bytes accepted, counted after content decoding; exactly this many are still accepted. */
  readonly limit: number
  /** Whether gzip, deflate and br are undone (default true); otherwise every content coding is refused. */
  readonly inflate?: boolean
  /** Called with how many bytes have come off the wire so far, each time that some come; false ends the reading, as `aborted`. */
  readonly received?: ((bytes: number) => boolean) | undefined
}

/** A body that is not accepted: the HTTP status that fits, and what is wrong with the way out. */
export interface BodyRefusal {
  readonly kind: 'too_large' | 'unsupported_encoding' | 'bad_encoding' | 'stalled'
  readonly status: 400 | 408 | 413 | 415
  readonly detail: string
}

/**
 * What became of a request's body. The receiver of `bytes` calls `release` once they are parsed, in a `finally`:
 * until then no other large body is read. After `aborted` the client is gone and no client waits for a response.
 */
export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly release: Release }
  | { readonly kind: 'aborted' }
  | BodyRefusal

interface Plan {
  readonly kind: 'read'
  readonly limit: number
  /** The announced length of the bytes on the wire; 0 when none is announced. */
  readonly announced: number
  readonly decoder: Decoder | undefined
  readonly received: ((bytes: number) => boolean) | undefined
}

const EMPTY: Body = { kind: 'bytes', bytes: Buffer.alloc(0), release: () => {} }

/**
 * Reads a request's body as a whole. Refuses by `Content-Length` before a byte is read, else as soon as the bytes
 * (inflated ones, for a coded body) exceed the limit. After a refusal the caller just answers, without
 * `Connection: close`: discardBody sees to the rest of the upload.
 *
 * Never rejects. Limit of the API: 100 MiB for batch creation (specification, "Limits: Batch predictions").
 */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<Body> {
  if (!announcesBody(req)) return EMPTY
  const plan = planFor(req, options)
  const body = plan.kind === 'read' ? await readAsPlanned(req, plan) : plan
  if (body.kind !== 'bytes' && body.kind !== 'aborted') await discardBody(req)
  return body
}

function readAsPlanned(req: IncomingMessage, plan: Plan): Promise<Body> {
  return new Promise((resolve) => new BodyReader(req, plan, resolve).start())
}

function planFor(req: IncomingMessage, { limit, inflate = true, received }: BodyOptions): Plan | BodyRefusal {
  const coding = codingOf(req.headers['content-encoding'])
  if (coding === 'unsupported' || (coding !== 'identity' && !inflate)) return unsupportedEncoding(inflate)
  const announced = Number(req.headers['content-length'] ?? 0)
  if (announced > wireLimit(limit, coding !== 'identity')) return tooLarge(limit)
  return { kind: 'read', limit, announced, decoder: coding === 'identity' ? undefined : coding(), received }
}

class BodyReader {
  readonly #req: IncomingMessage
  readonly #decoder: Decoder | undefined
  readonly #limit: number
  readonly #sink: ByteSink
  readonly #received: Plan['received']
  #resolve: (body: Body) => void
  #release: Release | undefined
  #wireBytes = 0
  #wireEnded = false
  #decoderEnded = false
  #settled = false

  constructor(
    req: IncomingMessage,
    { limit, announced, decoder, received }: Plan,
    resolve: (body: Body) => void,
  ) {
    this.#req = req
    this.#decoder = decoder
    this.#received = received
    this.#limit = limit
    this.#sink = new ByteSink(decoder === undefined ? announced : 0, limit)
    this.#resolve = resolve
  }

  start(): void {
    // The client may have gone while its request waited for something else; no event would tell so any more.
    if (this.#req.destroyed) {
      this.#settle({ kind: 'aborted' })
      return
    }
    this.#req.on('error', () => this.#settle({ kind: 'aborted' }))
    this.#req.on('close', () => this.#onWireClosed())
    this.#req.on('end', () => this.#onWireEnd())
    this.#req.on('data', (chunk: Buffer) => this.#onWireData(chunk))
    if (this.#decoder !== undefined) this.#startDecoder(this.#decoder)
    sendContinue(this.#req)
  }

  #startDecoder(decoder: Decoder): void {
    decoder.on('error', (error: NodeJS.ErrnoException) => this.#settle(corrupt(error.code === 'Z_BUF_ERROR')))
    decoder.on('end', () => this.#onDecoderEnd())
    decoder.on('data', (chunk: Buffer) => this.#onBytes(chunk))
    this.#req.pipe(decoder)
  }

  #onWireData(chunk: Buffer): void {
    this.#wireBytes += chunk.length
    if (this.#received?.(this.#wireBytes) === false) this.#settle({ kind: 'aborted' })
    else if (this.#decoder === undefined) this.#onBytes(chunk)
    else if (this.#wireBytes > wireLimit(this.#limit, true)) this.#settle(tooLarge(this.#limit))
  }

  #onBytes(chunk: Buffer): void {
    if (this.#sink.size + chunk.length > this.#limit) this.#settle(tooLarge(this.#limit))
    if (this.#settled) return
    this.#sink.append(chunk)
    if (this.#sink.size > LARGE_BODY_BYTES && this.#release === undefined) this.#waitAtGate()
  }

  /**
   * The body is large, and goes on when it is its turn. What a client announces is not asked: one that announces much and
   * sends nothing would keep the others waiting.
   */
  #waitAtGate(): void {
    const source = this.#decoder ?? this.#req
    source.pause()
    this.#release = () => {}
    const holder = { received: () => this.#sink.size, onStalled: () => this.#settle(STALLED) }
    void largeBodyGate.acquire(holder).then((release) => {
      if (this.#settled) release()
      else this.#release = release
      source.resume()
    })
  }

  #onWireEnd(): void {
    this.#wireEnded = true
    if (this.#decoder === undefined || this.#decoderEnded) this.#succeed()
  }

  #onWireClosed(): void {
    // A request closes right after its end too, while the decoder may still be at work.
    if (!this.#wireEnded) this.#settle({ kind: 'aborted' })
  }

  #onDecoderEnd(): void {
    this.#decoderEnded = true
    if (this.#wireEnded) this.#succeed()
  }

  #succeed(): void {
    // Node's inflate and brotli streams end quietly where the coded data ends, whatever follows it.
    const unused = this.#decoder === undefined ? 0 : this.#wireBytes - this.#decoder.bytesWritten
    if (unused > 0) this.#settle(trailing(unused))
    else this.#settle({ kind: 'bytes', bytes: this.#sink.take(), release: this.#release ?? (() => {}) })
  }

  #settle(body: Body): void {
    if (this.#settled) return
    this.#settled = true
    if (body.kind !== 'bytes') this.#abandon()
    const resolve = this.#resolve
    // The request lives as long as its connection, this reader with it, and through its promise the whole body.
    this.#resolve = () => {}
    resolve(body)
  }

  #abandon(): void {
    this.#sink.take()
    this.#release?.()
    if (this.#decoder === undefined) return
    this.#req.unpipe(this.#decoder)
    this.#decoder.destroy()
  }
}

/** A coded body may be slightly larger than what it decodes to, and the limit is about the latter. */
function wireLimit(limit: number, coded: boolean): number {
  return coded ? encodedBound(limit) : limit
}

const STALLED: BodyRefusal = {
  kind: 'stalled',
  status: 408,
  detail:
    'Bodies over 8 MiB are received one at a time, and this one made others wait: hardly any bytes of it came for 2 seconds. Send it again, without pauses.',
}

/** That a body has more bytes than are accepted. */
export function tooLarge(limit: number): BodyRefusal {
  const detail =
    `The request body is larger than ${limit} bytes, the most that this operation accepts (counted after ` +
    'content decoding). Send less at once, or split the work over several requests.'
  return { kind: 'too_large', status: 413, detail }
}

function unsupportedEncoding(inflate: boolean): BodyRefusal {
  const accepted = inflate ? 'gzip, deflate, br or no Content-Encoding header' : 'no Content-Encoding header'
  const detail = `The request's Content-Encoding is not supported here. Use ${accepted}.`
  return { kind: 'unsupported_encoding', status: 415, detail }
}

function corrupt(truncated: boolean): BodyRefusal {
  const what = truncated ? 'ends too early' : 'is not what its Content-Encoding header says'
  const detail = `The request body ${what}, so it cannot be decoded. Check the compression, or send it plain.`
  return { kind: 'bad_encoding', status: 400, detail }
}

function trailing(bytes: number): BodyRefusal {
  const detail = `The request body goes on for ${bytes} bytes after the end of its compressed data. Send one stream.`
  return { kind: 'bad_encoding', status: 400, detail }
}

const KEEP_CHUNKS_UP_TO = 1024 * 1024

/**
 * Collects chunks into one buffer without ever holding the bytes twice for long: a small body is joined once at
 * the end, a larger one is copied into a buffer as it arrives.
 */
export class ByteSink {
  readonly #expected: number
  readonly #limit: number
  #chunks: Buffer[] = []
  #buffer: Buffer | undefined
  #size = 0

  /**
   * @param expected bytes that were announced, 0 if none were. A lying announcement costs nothing: the buffer is
   *   only made after a first MiB has really come.
   * @param limit the most bytes that will ever be appended
   */
  constructor(expected: number, limit: number) {
    this.#expected = expected
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  append(chunk: Buffer): void {
    const size = this.#size + chunk.length
    if (this.#buffer === undefined && size <= KEEP_CHUNKS_UP_TO) this.#chunks.push(chunk)
    else chunk.copy(this.#bufferFor(size), this.#size)
    this.#size = size
  }

  /** The bytes so far; the sink is empty afterwards and holds no memory. */
  take(): Buffer {
    const bytes = this.#buffer?.subarray(0, this.#size) ?? joined(this.#chunks)
    this.#chunks = []
    this.#buffer = undefined
    this.#size = 0
    return bytes
  }

  #bufferFor(size: number): Buffer {
    if (this.#buffer !== undefined && this.#buffer.length >= size) return this.#buffer
    const capacity = this.#expected >= size ? this.#expected : Math.max(size, Math.min(2 * size, this.#limit))
    // Untouched pages of an unsafe buffer take no memory; every byte that take() returns has been written.
    const buffer = Buffer.allocUnsafe(capacity)
    if (this.#buffer !== undefined) this.#buffer.copy(buffer, 0, 0, this.#size)
    else joined(this.#chunks).copy(buffer)
    this.#chunks = []
    this.#buffer = buffer
    return buffer
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
}

/** A stream that undoes one content coding; `bytesWritten` counts the encoded bytes that it has used. */
type Decoder = ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>

// The default of 16 KiB means four times as many trips to the thread pool for a large body.
const OPTIONS = { chunkSize: 64 * 1024 }

const CODINGS = new Map<string, () => Decoder>([
  ['gzip', () => createGunzip(OPTIONS)],
  ['x-gzip', () => createGunzip(OPTIONS)],
  ['deflate', () => createInflate(OPTIONS)],
  ['br', () => createBrotliDecompress(OPTIONS)],
])

/** What a request's `Content-Encoding` asks for. Several codings on top of each other are not supported. */
type Coding = 'identity' | 'unsupported' | (() => Decoder)

/** Reads a `Content-Encoding` header (RFC 9110 section 8.4); names are case-insensitive. */
function codingOf(header: string | undefined): Coding {
  const name = header?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return 'identity'
  return CODINGS.get(name) ?? 'unsupported'
}

/** The most bytes that an honest encoder makes of `size` bytes that it cannot compress, framing included. */
function encodedBound(size: number): number {
  return size + Math.ceil(size / 100) + 1024
}
