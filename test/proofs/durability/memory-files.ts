import type { FileStat, Files } from '../../../src/adapters/storage/files.ts'

/** The part of a file system that loading needs, in memory, so that thousands of damaged files can be loaded per second. */
export class MemoryFiles implements Files {
  /** By full path. The buffers are never modified. */
  readonly contents: Map<string, Buffer>
  /** Paths by descriptor. */
  readonly #open = new Map<number, string>()
  #next = 1

  constructor(contents: Iterable<readonly [string, Buffer]>) {
    this.contents = new Map(contents)
  }

  open(path: string, how: 'r' | 'wx'): number {
    if (how === 'wx') this.contents.set(path, Buffer.alloc(0))
    this.#get(path)
    this.#open.set(this.#next, path)
    this.#next += 1
    return this.#next - 1
  }

  close(file: number): void {
    this.#open.delete(file)
  }

  readInto(file: number, buffer: Uint8Array, at: number): number {
    return this.#get(this.#open.get(file) ?? '').copy(buffer, 0, at)
  }

  write(file: number, bytes: Uint8Array, at: number): number {
    const path = this.#open.get(file) ?? ''
    this.contents.set(path, Buffer.concat([this.#get(path).subarray(0, at), bytes]))
    return bytes.length
  }

  read(path: string): Buffer | undefined {
    return this.contents.get(path)
  }

  stat(path: string): FileStat | undefined {
    const content = this.contents.get(path)
    return content && { inode: 1n, size: content.length, modified: 1n, changed: 1n }
  }

  list(directory: string): string[] {
    const start = `${directory}/`
    return [...this.contents.keys()]
      .filter((path) => path.startsWith(start))
      .map((path) => path.slice(start.length))
  }

  truncatePath(path: string, length: number): void {
    this.contents.set(path, this.#get(path).subarray(0, length))
  }

  rename(from: string, to: string): void {
    this.contents.set(to, this.#get(from))
    this.contents.delete(from)
  }

  copy(from: string, to: string): void {
    this.contents.set(to, this.#get(from))
  }

  remove(path: string): boolean {
    return this.contents.delete(path)
  }

  #get(path: string): Buffer {
    const content = this.contents.get(path)
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
    return content
  }

  // Loading writes only copies that it sets aside; it never calls these.
  readonly writeSoon = unexpected
  readonly truncate = unexpected
  readonly sync = unexpected
  readonly datasync = unexpected
  readonly syncDirectory = unexpected
  readonly link = unexpected
  readonly makeDirectory = unexpected
  readonly removeDirectory = unexpected
  readonly statOf = unexpected
  readonly sizeAt = unexpected
}

function unexpected(): never {
  throw new Error('loading has written a checkpoint or a journal')
}
