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
