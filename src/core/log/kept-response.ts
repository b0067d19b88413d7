import { crc32 } from 'node:zlib'
import { z } from 'zod'
import type { ShapeOf } from '../fields.ts'
import { isSecretName, withoutSecretsInText, withoutWords } from '../redaction.ts'
import type { HeaderList } from '../request/headers.ts'
import { REDACTED } from '../secrets.ts'

/** Maximum number of bytes that are kept of one body. */
export const MAX_KEPT_BYTES = 16_384

/** Maximum number of bytes of all bodies in the logs of a process, which can have thousands of sandboxes. */
export const MAX_KEPT_IN_ALL = 16 * 1024 * 1024

/** Estimated bytes of memory for one body in addition to its text. */
const OVERHEAD = 256

/** A body with more bytes than this waits as bytes: the garbage collector would move a long string twice. */
const SHORT = 4_096

/** A body with more bytes than this is searched at once, because only its beginning is kept. */
const KEPT_WHOLE = 65_536

/** A response as the log shows it. */
export const keptResponse = () =>
  z.strictObject({
    status: z.int(),
    /** In the order in which they were sent, repeated ones included. */
    headers: z.array(z.strictObject({ name: z.string(), value: z.string() })),
    /** At most its first 16,384 bytes. Null when there was none, or when it is no longer kept. */
    body: z.string().nullable(),
    /** Whether `body` is complete. */
    body_kept: z.boolean(),
    /** Length of the whole body in bytes, as far as it was written. */
    body_bytes: z.int(),
  })

/** The newest bodies of a process, as many as fit. The oldest are dropped first, from any log. */
class KeptBodies {
  /** Oldest first. */
  readonly #responses = new Set<KeptResponse>()
  #total = 0

  add(response: KeptResponse): void {
    this.#responses.add(response)
    this.grow(OVERHEAD)
  }

  grow(bytes: number): void {
    this.#total += bytes
    if (this.#total <= MAX_KEPT_IN_ALL) return
    for (const oldest of this.#responses) {
      this.drop(oldest)
      if (this.#total <= MAX_KEPT_IN_ALL) return
    }
  }

  drop(response: KeptResponse): void {
    if (this.#responses.delete(response)) this.#total -= response.drop() + OVERHEAD
  }
}

const bodies = new KeptBodies()

/** The part of a response that the log keeps: the head, and the beginning of the body, without secrets. */
export class KeptResponse {
  #status: number
  #headers: HeaderList
  readonly #secrets: readonly string[]
  readonly #words: readonly string[]
  #body = ''
  /** The body until something asks for it: the search for secrets takes up to a quarter of the time of a request. */
  #unsearched: string | Buffer | undefined
  #kept = 0
  #bytes = 0
  #isQueued = false
  #isDropped = false
  #holders = 0
  #crc32: number | undefined = 0

  /**
   * @param secrets names of the fields of a JSON body whose values are masked
   * @param words credentials that are masked: an error response may quote one of the request
   */
  constructor(
    status: number,
    headers: HeaderList,
    secrets: readonly string[] = [],
    words: readonly string[] = [],
  ) {
    this.#words = words
    this.#status = status
    this.#headers = headers
    this.#secrets = secrets
  }

  /** CRC-32 of the whole body, without its secrets. Undefined if it was dropped before anything asked for it. */
  get crc32(): number | undefined {
    this.#search()
    return this.#crc32
  }

  /** Adds a part of the body. @param bytes its length, when the text is not UTF-8 */
  write(text: string, bytes = Buffer.byteLength(text)): void {
    if (bytes === 0) return
    this.#search()
    const isLater = !this.#isQueued && bytes <= KEPT_WHOLE
    this.#bytes += bytes
    if (!this.#isQueued) {
      this.#isQueued = true
      bodies.add(this)
    }
    if (!isLater) this.#add(text)
    else {
      // Text of only ASCII characters needs no conversion to UTF-8.
      this.#unsearched = bytes > SHORT ? Buffer.from(text, bytes === text.length ? 'latin1' : 'utf8') : text
      this.#keep(bytes)
    }
  }

  #search(): void {
    const body = this.#unsearched
    if (body === undefined) return
    this.#unsearched = undefined
    this.#keep(-this.#kept)
    this.#add(body.toString())
  }

  #add(text: string): void {
    const room = MAX_KEPT_BYTES - this.#kept
    const shown = withoutWords(withoutSecretsInText(redacted(text, this.#secrets)), this.#words)
    if (this.#crc32 !== undefined) this.#crc32 = crc32(shown, this.#crc32)
    if (room <= 0 || this.#isDropped) return
    const part = beginning(shown, room)
    this.#body += part
    this.#keep(Buffer.byteLength(part))
  }

  #keep(bytes: number): void {
    this.#kept += bytes
    bodies.grow(bytes)
  }

  /** Yields the lines of a stream, and keeps each of them. */
  *copying(lines: Iterable<string>): Generator<string> {
    for (const line of lines) {
      this.write(line)
      yield line
    }
  }

  /** Replaces the response with the one that faults have changed. */
  replace(status: number, headers: HeaderList, body: Buffer): void {
    this.#status = status
    this.#headers = headers
    this.#keep(-this.#kept)
    this.#unsearched = undefined
    this.#body = ''
    this.#bytes = 0
    this.#crc32 = 0
    const text = body.toString()
    this.write(text, body.length)
    // The text of bytes that are not UTF-8 hides their differences.
    if (Buffer.byteLength(text) !== body.length) {
      this.#search()
      this.#crc32 = crc32(body)
    }
  }

  /** Keeps the body until {@link release} was called as often. */
  hold(): void {
    this.#holders += 1
  }

  /** Must be called when a log or a recording removes its entry. The body is dropped at once, unless another one has it, too. */
  release(): void {
    this.#holders -= 1
    if (this.#holders === 0) bodies.drop(this)
  }

  /** Forgets the body. @returns how many bytes were kept of it */
  drop(): number {
    const kept = this.#kept
    if (this.#unsearched !== undefined) this.#crc32 = undefined
    this.#unsearched = undefined
    this.#body = ''
    this.#kept = 0
    this.#isDropped = true
    return kept
  }

  show(): ShapeOf<typeof keptResponse> {
    this.#search()
    return {
      status: this.#status,
      headers: this.#headers.map(([name, value]) => ({
        name,
        value: isSecretName(name) ? REDACTED : withoutWords(withoutSecretsInText(value), this.#words),
      })),
      body: this.#bytes === 0 || this.#isDropped ? null : this.#body,
      body_kept: this.#bytes <= MAX_KEPT_BYTES && (this.#bytes === 0 || !this.#isDropped),
      body_bytes: this.#bytes,
    }
  }
}

// Copied through a buffer, since a part of a string keeps the whole string in memory.
function beginning(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString()
    .replace(/\uFFFD$/, '')
}

// Text that is not JSON may contain a secret anywhere.
function redacted(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return text
  try {
    const mask = (name: string, value: unknown) =>
      secrets.includes(name) && value !== null ? REDACTED : value
    return JSON.stringify(JSON.parse(text, mask))
  } catch {
    return REDACTED
  }
}
