import { createHash, type Hash, hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { ErrorCode } from '../../core/error-kinds.ts'
import { Refusal } from '../../core/errors.ts'
import type { Evidence } from '../../core/log/evidence.ts'
import { MAX_BODY, noteBody } from '../../core/record/recording.ts'

/** Bounds for reading a body. */
export interface BodyOptions {
  /** Maximum bytes, counted after content decoding. A body of exactly this size is accepted. */
  readonly bytes: number
  /** Called for each chunk, with the bytes received so far (before decoding). Returning false ends the reading, as `aborted`. */
  readonly received?: ((bytes: number) => boolean) | undefined
  /** Gets the length and the digest of a body that was read to its end. */
  readonly evidence?: Evidence | undefined
}

/**
 * The result of reading a request's body. `aborted` needs no response: the client has left, or `received` has returned false.
 */
export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

const NOTHING = Buffer.alloc(0)

/** True when the headers of the request announce a body. */
export function announcesBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/**
 * Reads the whole body of a request. Refuses it by its `Content-Length` before a byte is read, otherwise as soon as its
 * bytes exceed the limit (after decoding, for a coded body). After a refusal the caller only sends the response, without
 * `Connection: close`: the rest of the upload is discarded.
 *
 * Never rejects. Limit of the API: 100 MiB for batch creation (specification, "Limits: Batch predictions").
 */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<Body> {
  if (!announcesBody(req)) return { kind: 'bytes', bytes: NOTHING }
  const body = await receiveBody(req, options)
  if (body.kind === 'refused') await discardBody(req)
  return body
}

function receiveBody(req: IncomingMessage, options: BodyOptions): Body | Promise<Body> {
  const coding = req.headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (!CODINGS.has(coding)) {
    const detail =
      "The request's Content-Encoding is not supported here. Use gzip, deflate, br or no Content-Encoding header."
    return refusedBody('unsupported_media_type', detail)
  }
  const decoder = CODINGS.get(coding)
  const announced = Number(req.headers['content-length'] ?? 0)
  if (announced > wireLimit(options.bytes, decoder !== undefined)) return tooLarge(options.bytes)
  return new Promise((resolve) => {
    new BodyReader(req, decoder?.(), options, resolve).start()
  })
}

class BodyReader {
  readonly #req: IncomingMessage
  readonly #decoder: Decoder | undefined
  readonly #options: BodyOptions
  #resolve: (body: Body) => void
  /** Holds the bytes so far, and room for more: a list of chunks would need far more memory when they are tiny. */
  #buffer: Buffer = NOTHING
  #size = 0
  #wireBytes = 0
  /** The chunks for the recording; undefined when they are too long. */
  #recorded: Buffer[] | undefined = []
  /** Of a body that is too long for the recording. */
  #digest: Hash | undefined
  /** The number of streams that have not ended: the request and its decoder. */
  #open: number

  constructor(
    req: IncomingMessage,
    decoder: Decoder | undefined,
    options: BodyOptions,
    resolve: (body: Body) => void,
  ) {
    this.#req = req
    this.#decoder = decoder
    this.#options = options
    this.#resolve = resolve
    this.#open = decoder === undefined ? 1 : 2
  }

  start(): void {
    // The client may have left while its request waited for something else. No event would report that now.
    if (this.#req.destroyed) {
      this.#settle({ kind: 'aborted' })
      return
    }
    this.#req.on('data', (chunk: Buffer) => this.#onWireData(chunk))
    this.#req.on('end', () => this.#onEnd())
    this.#req.on('error', () => this.#settle({ kind: 'aborted' }))
    // Also emitted right after the end of the request, while the decoder may still be working.
    this.#req.on('close', () => {
      if (!this.#req.readableEnded) this.#settle({ kind: 'aborted' })
    })
    if (this.#decoder !== undefined) this.#decode(this.#decoder)
    const send = pending.get(this.#req)
    pending.delete(this.#req)
    send?.()
  }

  #decode(decoder: Decoder): void {
    decoder.on('data', (chunk: Buffer) => this.#onBytes(chunk))
    decoder.on('end', () => this.#onEnd())
    decoder.on('error', (error: NodeJS.ErrnoException) => this.#settle(corrupt(error.code === 'Z_BUF_ERROR')))
    this.#req.pipe(decoder)
  }

  #onWireData(chunk: Buffer): void {
    const { bytes: limit, received, evidence } = this.#options
    this.#wireBytes += chunk.length
    if (evidence !== undefined) this.#record(chunk)
    if (received?.(this.#wireBytes) === false) this.#settle({ kind: 'aborted' })
    else if (this.#decoder === undefined) this.#onBytes(chunk)
    else if (this.#wireBytes > wireLimit(limit, true)) this.#settle(tooLarge(limit))
  }

  #record(chunk: Buffer): void {
    if (this.#isSettled) return
    if (this.#wireBytes > MAX_BODY && this.#recorded !== undefined) {
      this.#digest = createHash('sha256')
      for (const each of this.#recorded) this.#digest.update(each)
      this.#recorded = undefined
    }
    if (this.#recorded === undefined) this.#digest?.update(chunk)
    else this.#recorded.push(chunk)
  }

  #noteBody(): void {
    const { evidence } = this.#options
    if (evidence === undefined) return
    const whole = this.#recorded && Buffer.concat(this.#recorded)
    noteBody(evidence, whole)
    if (this.#open > 0) return
    const digest = this.#digest?.digest('hex')
    // Of most bodies, nothing ever reads the digest.
    const sha256 = (): string => digest ?? hash('sha256', whole ?? NOTHING)
    evidence.body = {
      bytes: this.#wireBytes,
      get sha256() {
        return sha256()
      },
    }
  }

  #onBytes(chunk: Buffer): void {
    if (this.#isSettled) return
    const { bytes: limit } = this.#options
    const size = this.#size + chunk.length
    if (size > limit) this.#settle(tooLarge(limit))
    else if (this.#size === 0) this.#buffer = chunk
    else this.#append(chunk, size)
    this.#size = size
  }

  #append(chunk: Buffer, size: number): void {
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(2 * size, this.#options.bytes))
      this.#buffer.copy(larger, 0, 0, this.#size)
      this.#buffer = larger
    }
    chunk.copy(this.#buffer, this.#size)
  }

  #onEnd(): void {
    this.#open -= 1
    if (this.#open > 0) return
    // Node's inflate and brotli streams end without an error at the end of the coded data, even if more bytes follow.
    const unused = this.#decoder === undefined ? 0 : this.#wireBytes - this.#decoder.bytesWritten
    const detail = `The request body continues for ${unused} bytes after the end of its compressed data. Send a single stream.`
    if (unused > 0) this.#settle(refusedBody('bad_request', detail))
    else this.#settle({ kind: 'bytes', bytes: this.#buffer.subarray(0, this.#size) })
  }

  get #isSettled(): boolean {
    return this.#resolve === ignore
  }

  #settle(body: Body): void {
    if (this.#isSettled) return
    const resolve = this.#resolve
    // The request stays in memory as long as its connection, and this reader with it: it must not keep the whole body.
    this.#resolve = ignore
    this.#noteBody()
    this.#recorded = undefined
    this.#buffer = NOTHING
    if (body.kind !== 'bytes' && this.#decoder !== undefined) {
      this.#req.unpipe(this.#decoder)
      this.#decoder.destroy()
    }
    resolve(body)
  }
}

const ignore = (): void => {}

/** Maximum bytes before decoding. Coded bytes that do not compress are larger than the decoded ones: by 1 % and 1 KiB at most. */
function wireLimit(limit: number, isCoded: boolean): number {
  return isCoded ? limit + Math.ceil(limit / 100) + 1024 : limit
}

/** A body that is not accepted. */
export function refusedBody(code: ErrorCode, detail: string): Extract<Body, { kind: 'refused' }> {
  return { kind: 'refused', refusal: new Refusal(code, { detail }) }
}

/** The refusal of a body with more bytes than the limit. */
export function tooLarge(limit: number) {
  const detail =
    `The request body is larger than ${limit} bytes, the most that this operation accepts (counted after ` +
    'content decoding). Send less at once, or split the work over several requests.'
  return refusedBody('payload_too_large', detail)
}

function corrupt(truncated: boolean) {
  const what = truncated ? 'ends too early' : 'does not match its Content-Encoding header'
  const detail = `The request body ${what}, so it cannot be decoded. Check the compression, or send the body uncompressed.`
  return refusedBody('bad_request', detail)
}

/** A stream that decodes one content coding; `bytesWritten` counts the encoded bytes that it has consumed. */
type Decoder = ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>

// With the default of 16 KiB, a large body needs four times as many calls to the thread pool.
const OPTIONS = { chunkSize: 64 * 1024 }

/** The decoder for each `Content-Encoding` (RFC 9110 section 8.4). A list of several codings is not supported. */
const CODINGS = new Map<string, (() => Decoder) | undefined>([
  ['', undefined],
  ['identity', undefined],
  ['gzip', () => createGunzip(OPTIONS)],
  ['x-gzip', () => createGunzip(OPTIONS)],
  ['deflate', () => createInflate(OPTIONS)],
  ['br', () => createBrotliDecompress(OPTIONS)],
])

/** Maximum bytes of a refused body that are read and discarded: 256 MiB, over twice the largest limit of the API. */
const MAX_DISCARDED_BYTES = 256 * 1024 * 1024

/** True when a part of the announced body may still be unread. */
export function hasUnreadBody(req: IncomingMessage): boolean {
  return !req.readableEnded && announcesBody(req)
}

/**
 * Reads and discards the rest of a refused body. After `maxBytes` (default 256 MiB) the connection ends.
 * Resolves when the response should be written. On a connection that stays open that is at once, and discarding goes on
 * after the response. When the client asked for the connection to be closed, it is after discarding: Node closes the
 * connection right after the response, and a client that is still sending may then never read it. For the same reason the
 * emulator adds no `Connection: close` to the response to a refused body.
 */
export function discardBody(req: IncomingMessage, maxBytes = MAX_DISCARDED_BYTES): Promise<void> {
  const closing = hasUnreadBody(req) && closesAfterResponse(req) && !awaitsContinue(req) && !req.destroyed
  return new Promise((resolve) => {
    let discarded = 0
    req.on('end', resolve)
    req.on('close', resolve)
    req.on('data', (chunk: Buffer) => {
      discarded += chunk.length
      if (discarded <= maxBytes) return
      if (closing) resolve()
      else req.socket.destroy()
    })
    req.resume()
    if (!closing) resolve()
  })
}

function closesAfterResponse(req: IncomingMessage): boolean {
  return req.httpVersion === '1.0' || /\bclose\b/i.test(req.headers.connection ?? '')
}

const pending = new WeakMap<IncomingMessage, () => void>()

/** Records that the client waits for `100 Continue` before it sends its body; `send` writes that interim response. */
export function holdContinue(req: IncomingMessage, send: () => void): void {
  pending.set(req, send)
}

/** True while the client waits for `100 Continue`: a final response now would save it the upload. */
export function awaitsContinue(req: IncomingMessage): boolean {
  return pending.has(req)
}

/** Suppresses the `100 Continue` for a client that waits for it. */
export function withholdContinue(req: IncomingMessage): void {
  if (pending.has(req)) pending.set(req, () => {})
}
