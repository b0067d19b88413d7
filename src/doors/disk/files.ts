import fs, { type BigIntStats } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** What tells one state of a file from another: any write or replacement changes at least one of these. */
export interface FileStat {
  readonly inode: bigint
  /** In bytes. */
  readonly size: number
  /** Nanoseconds since the Unix epoch, as are the changes of the inode. */
  readonly modified: bigint
  readonly changed: bigint
}

/**
 * The file operations that persistence is made of. A port, so that a test can fail or stop at each one. Files are made
 * with mode 0600 and directories with 0700. Every method throws the error of the operating system.
 */
export interface Files {
  /** `r` to read; `wx` to make a file that must not exist yet, to write and read. */
  open(path: string, how: 'r' | 'wx'): number
  /** Never fails for the disk: what has to be on it has been synced before, and said if it could not be. */
  close(file: number): void
  /** One write, which may be short; the number of bytes that it took. */
  write(file: number, bytes: Uint8Array, at: number): number
  /** As {@link Files.write}, without holding up the event loop. */
  writeSoon(file: number, bytes: Uint8Array, at: number): Promise<number>
  truncate(file: number, length: number): void
  truncatePath(path: string, length: number): void
  /** Data and metadata onto the disk itself. */
  sync(file: number): Promise<void>
  /** Data, and what is needed to read it back. */
  datasync(file: number): Promise<void>
  /** The names in a directory onto the disk itself; nothing where the platform cannot. */
  syncDirectory(path: string): Promise<void>
  rename(from: string, to: string): void
  /** A second name for a file; refused when the name is taken. */
  link(from: string, to: string): void
  copy(from: string, to: string): void
  /** True when there was something to remove. */
  remove(path: string): boolean
  /** True when it had to be made. */
  makeDirectory(path: string): boolean
  /** Removes an empty directory; false when there is none, or something is in it. */
  removeDirectory(path: string): boolean
  /** Reads up to the buffer's length; 0 at the end. */
  readInto(file: number, buffer: Uint8Array, at: number): number
  /** The whole content, undefined when there is no such file. */
  read(path: string): Buffer | undefined
  stat(path: string): FileStat | undefined
  statOf(file: number): FileStat
  list(directory: string): string[]
}

const [writeSoon, sync, datasync] = [promisify(fs.write), promisify(fs.fsync), promisify(fs.fdatasync)]

/** The real file system. */
export const nodeFiles: Files = {
  open: (path, how) => fs.openSync(path, how === 'r' ? 'r' : 'wx+', 0o600),
  close,
  write: (file, bytes, at) => fs.writeSync(file, bytes, 0, bytes.length, at),
  writeSoon: async (file, bytes, at) => (await writeSoon(file, bytes, 0, bytes.length, at)).bytesWritten,
  truncate: (file, length) => fs.ftruncateSync(file, length),
  truncatePath: (path, length) => fs.truncateSync(path, length),
  sync: (file) => sync(file),
  datasync: (file) => datasync(file),
  syncDirectory,
  rename: (from, to) => fs.renameSync(from, to),
  link: (from, to) => fs.linkSync(from, to),
  copy: (from, to) => {
    fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL)
    fs.chmodSync(to, 0o600)
  },
  remove: (path) => present(() => fs.unlinkSync(path)) !== undefined,
  makeDirectory: (path) => fs.mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined,
  removeDirectory,
  readInto: (file, buffer, at) => fs.readSync(file, buffer, 0, buffer.length, at),
  read: (path) => present(() => fs.readFileSync(path))?.result,
  stat: (path) => {
    const stat = fs.statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat && fileStat(stat)
  },
  statOf: (file) => fileStat(fs.fstatSync(file, { bigint: true })),
  list: (directory) => fs.readdirSync(directory),
}

/** Whether a file is as it was. */
export function sameStat(a: FileStat, b: FileStat): boolean {
  return a.inode === b.inode && a.size === b.size && a.modified === b.modified && a.changed === b.changed
}

/** Writes everything, however short the single writes are. */
export function writeAll(files: Files, file: number, bytes: Uint8Array, at: number): void {
  let done = 0
  while (done < bytes.length) done += progress(files.write(file, bytes.subarray(done), at + done))
}

const SLICE = 1024 * 1024

/** As {@link writeAll}, letting the event loop turn after each mebibyte; `each` sees the slices in order. */
export async function writeAllSoon(
  files: Files,
  file: number,
  bytes: Uint8Array,
  at: number,
  each: (slice: Uint8Array) => void,
): Promise<void> {
  for (let start = 0; start < bytes.length; start += SLICE) {
    const slice = bytes.subarray(start, start + SLICE)
    each(slice)
    let done = 0
    while (done < slice.length) {
      done += progress(await files.writeSoon(file, slice.subarray(done), at + start + done))
    }
  }
}

/** Makes a file with this content, which must not exist yet. */
export function create(files: Files, path: string, content: Uint8Array): void {
  const file = files.open(path, 'wx')
  try {
    writeAll(files, file, content, 0)
  } catch (error) {
    files.remove(path)
    throw error
  } finally {
    files.close(file)
  }
}

/** Whether an error is the operating system's, with this code. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? '')
}

/** What an error says, for people. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function progress(written: number): number {
  if (written === 0) throw new Error('the file system took no bytes')
  return written
}

function present<T>(work: () => T): { readonly result: T } | undefined {
  try {
    return { result: work() }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

// The system lets go of the descriptor also where it reports an error. One that is not open is a defect of ours.
function close(file: number): void {
  try {
    fs.closeSync(file)
  } catch (error) {
    if (hasCode(error, 'EBADF')) throw error
  }
}

function removeDirectory(path: string): boolean {
  try {
    fs.rmdirSync(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) return false
    throw error
  }
}

async function syncDirectory(path: string): Promise<void> {
  let directory: number
  try {
    directory = fs.openSync(dirname(path), 'r')
  } catch (error) {
    // Windows opens no directories, and needs no such call.
    if (hasCode(error, 'EISDIR', 'EPERM', 'EACCES')) return
    throw error
  }
  try {
    await sync(directory)
  } catch (error) {
    // Some file systems know no sync of a directory; a failing disk says EIO.
    if (!hasCode(error, 'EINVAL', 'EPERM', 'ENOTSUP')) throw error
  } finally {
    fs.closeSync(directory)
  }
}

function fileStat({ ino, size, mtimeNs, ctimeNs }: BigIntStats): FileStat {
  return { inode: ino, size: Number(size), modified: mtimeNs, changed: ctimeNs }
}
