import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** A stream that undoes one content coding; `bytesWritten` counts the encoded bytes that it has used. */
export type Decoder = ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>

// The default of 16 KiB means four times as many trips to the thread pool for a large body.
const OPTIONS = { chunkSize: 64 * 1024 }

const CODINGS = new Map<string, () => Decoder>([
  ['gzip', () => createGunzip(OPTIONS)],
  ['x-gzip', () => createGunzip(OPTIONS)],
  ['deflate', () => createInflate(OPTIONS)],
  ['br', () => createBrotliDecompress(OPTIONS)],
])

/** What a request's `Content-Encoding` asks for. Several codings on top of each other are not supported. */
export type Coding = 'identity' | 'unsupported' | (() => Decoder)

/** Reads a `Content-Encoding` header (RFC 9110 section 8.4); names are case-insensitive. */
export function codingOf(header: string | undefined): Coding {
  const name = header?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return 'identity'
  return CODINGS.get(name) ?? 'unsupported'
}

/** The most bytes that an honest encoder makes of `size` bytes that it cannot compress, framing included. */
export function encodedBound(size: number): number {
  return size + Math.ceil(size / 100) + 1024
}
