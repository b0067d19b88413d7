import type { IncomingMessage } from 'node:http'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { announcesBody, discardBody, sendContinue } from './discard.ts'
import { LARGE_BODY_BYTES, largeBodyGate, type Release } from './large-body-gate.ts'

/** Bounds for reading a body. */
export interface BodyOptions {
  /** Maximum bytes, counted after content decoding. A body of exactly this size is accepted. */
  readonly limit: number
  /** Whether gzip, deflate and br are decoded (default true). If false, every content coding is refused. */
  readonly inflate?: boolean
  /** Called for each chunk, with the bytes received so far (before decoding). Returning false ends the reading, as `aborted`. */
  readonly received?: ((bytes: number) => boolean) | undefined
}

/** A body that is not accepted: the HTTP status, and a text with the problem and its fix. */
export interface BodyRefusal {
  readonly kind: 'too_large' | 'unsupported_encoding' | 'bad_encoding' | 'stalled'
  readonly status: 400 | 408 | 413 | 415
  readonly detail: string
}

/**
 * The result of reading a request's body. The caller must call `release` after it has parsed the `bytes`, in a `finally`:
 * until then no other large body is read. `aborted` needs no response: the client has left, or `received` has returned false.
 */
export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly release: Release }
  | { readonly kind: 'aborted' }
  | BodyRefusal

interface Plan {
  readonly kind: 'read'
  readonly limit: number
  /** The Content-Length; 0 without one. */
  readonly announced: number
  readonly decoder: Decoder | undefined
  readonly received: ((bytes: number) => boolean) | undefined
}

const EMPTY: Body = { kind: 'bytes', bytes: Buffer.alloc(0), release: () => {} }

/**
 * Reads the whole body of a request. Refuses it by its `Content-Length` before a byte is read, otherwise as soon as its
 * bytes exceed the limit (after decoding, for a coded body). After a refusal the caller only sends the response, without
 * `Connection: close`: the rest of the upload is discarded.
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
    // The client may have left while its request waited for something else. No event would report that now.
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
   * Pauses a large body until it is its turn. Only received bytes count, not the Content-Length: a client that announces a
   * large body and sends nothing would keep all others waiting.
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
    // A request also emits `close` right after its end, while the decoder may still be working.
    if (!this.#wireEnded) this.#settle({ kind: 'aborted' })
  }

  #onDecoderEnd(): void {
    this.#decoderEnded = true
    if (this.#wireEnded) this.#succeed()
  }

  #succeed(): void {
    // Node's inflate and brotli streams end without an error at the end of the coded data, even if more bytes follow.
    const unused = this.#decoder === undefined ? 0 : this.#wireBytes - this.#decoder.bytesWritten
    if (unused > 0) this.#settle(trailing(unused))
    else this.#settle({ kind: 'bytes', bytes: this.#sink.take(), release: this.#release ?? (() => {}) })
  }

  #settle(body: Body): void {
    if (this.#settled) return
    this.#settled = true
    if (body.kind !== 'bytes') this.#abandon()
    const resolve = this.#resolve
    // The request stays in memory as long as its connection, and this reader with it: this promise would keep the whole body.
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

/** Maximum bytes before decoding. The limit counts decoded bytes, and a coded body may be slightly larger than that. */
function wireLimit(limit: number, coded: boolean): number {
  return coded ? encodedBound(limit) : limit
}

const STALLED: BodyRefusal = {
  kind: 'stalled',
  status: 408,
  detail:
    'Bodies over 8 MiB are received one at a time. This one blocked others: it sent less than 64 KiB in 2 seconds. Send it again, without pauses.',
}

/** The refusal of a body with more bytes than the limit (413). */
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
  const what = truncated ? 'ends too early' : 'does not match its Content-Encoding header'
  const detail = `The request body ${what}, so it cannot be decoded. Check the compression, or send the body uncompressed.`
  return { kind: 'bad_encoding', status: 400, detail }
}

function trailing(bytes: number): BodyRefusal {
  const detail = `The request body continues for ${bytes} bytes after the end of its compressed data. Send a single stream.`
  return { kind: 'bad_encoding', status: 400, detail }
}

const KEEP_CHUNKS_UP_TO = 1024 * 1024

/**
 * Collects chunks into one buffer, and holds two copies of the bytes only for a moment: a small body (up to 1 MiB) is joined
 * once at the end, a larger one is copied into a buffer as it arrives.
 */
export class ByteSink {
  readonly #expected: number
  readonly #limit: number
  #chunks: Buffer[] = []
  #buffer: Buffer | undefined
  #size = 0

  /**
   * @param expected announced bytes, 0 if unknown. A wrong announcement costs no memory: the buffer is created only after
   *   the first MiB has arrived.
   * @param limit maximum bytes that will be appended
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

  /** Returns the bytes so far, and empties the sink. */
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
    // Unused pages of an unsafe buffer take no memory, because it is not filled with zeros. take() returns only written bytes.
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

/** A stream that decodes one content coding; `bytesWritten` counts the encoded bytes that it has consumed. */
type Decoder = ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>

// With the default of 16 KiB, a large body needs four times as many calls to the thread pool.
const OPTIONS = { chunkSize: 64 * 1024 }

const CODINGS = new Map<string, () => Decoder>([
  ['gzip', () => createGunzip(OPTIONS)],
  ['x-gzip', () => createGunzip(OPTIONS)],
  ['deflate', () => createInflate(OPTIONS)],
  ['br', () => createBrotliDecompress(OPTIONS)],
])

/** The decoder for a request's `Content-Encoding`. A list of several codings is not supported. */
type Coding = 'identity' | 'unsupported' | (() => Decoder)

/** Reads a `Content-Encoding` header (RFC 9110 section 8.4); names are case-insensitive. */
function codingOf(header: string | undefined): Coding {
  const name = header?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return 'identity'
  return CODINGS.get(name) ?? 'unsupported'
}

/** Maximum bytes of `size` incompressible bytes after encoding, framing included: 1 % and 1 KiB more. */
function encodedBound(size: number): number {
  return size + Math.ceil(size / 100) + 1024
}
