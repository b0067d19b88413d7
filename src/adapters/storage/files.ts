import { constants } from 'node:buffer'
import fs, { type BigIntStats } from 'node:fs'
import { dirname } from 'node:path'
import { Refusal, refuse } from '../../core/errors.ts'

/** Metadata of a file. A write or a replacement changes at least one of these. */
export interface FileStat {
  readonly inode: bigint
  /** In bytes. */
  readonly size: number
  /** Nanoseconds since the Unix epoch. `changed` is the time of the last change of the inode, in the same unit. */
  readonly modified: bigint
  readonly changed: bigint
  /** The kind of the entry if it is not a file, for example `a directory`. */
  readonly other?: string
}

/** Thrown when something else, for example a directory, is where the emulator needs a file, or a file where it needs a directory. */
export class NotAFile extends Error {
  constructor(path: string, other: string, needed = 'a file') {
    super(
      `${path} is ${other}, and the emulator needs ${needed} there. Move it away, for example with \`mv "${path}" "${path}.moved"\`, or choose another data directory.`,
    )
    this.name = 'NotAFile'
  }
}

/**
 * The file operations of persistence, on the real file system. Files are created with mode 0600 and directories with 0700. Every
 * method throws the error of the operating system; those that read also throw {@link NotAFile}.
 */
export const nodeFiles = {
  /** `r` to read; `r+` to write as well; `wx` to create a file that must not exist, to write and read. */
  open: (path: string, how: 'r' | 'r+' | 'wx'): number => {
    if (how !== 'wx') refuseOther(path, statAt(path))
    return fs.openSync(path, how === 'wx' ? 'wx+' : how, 0o600)
  },
  /** Ignores disk errors: the system closes the file in any case. EBADF is a defect of the emulator. */
  close: (file: number): void => {
    try {
      fs.closeSync(file)
    } catch (error) {
      if (hasCode(error, 'EBADF')) throw error
    }
  },
  /** One write, which may be short. @returns the number of bytes written */
  write: (file: number, bytes: Uint8Array, at: number): number =>
    fs.writeSync(file, bytes, 0, bytes.length, at),
  truncate: (file: number, length: number): void => fs.ftruncateSync(file, length),
  rename: (from: string, to: string): void => fs.renameSync(from, to),
  remove: (path: string): void => void present(() => fs.unlinkSync(path)),
  makeDirectory,
  /** Removes an empty directory. Does nothing when it is missing or not empty. */
  removeDirectory: (path: string): void => {
    try {
      fs.rmdirSync(path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error
    }
  },
  /** Reads up to the buffer's length; 0 at the end. */
  readInto: (file: number, buffer: Uint8Array, at: number): number =>
    fs.readSync(file, buffer, 0, buffer.length, at),
  /** The whole content, undefined when there is no such file. */
  read: (path: string): Buffer | undefined => {
    const stat = statAt(path)
    refuseOther(path, stat)
    if (stat !== undefined && stat.size > constants.MAX_STRING_LENGTH)
      throw new NotAFile(
        path,
        `a file of ${stat.size} bytes`,
        `one of at most ${constants.MAX_STRING_LENGTH}`,
      )
    return present(() => fs.readFileSync(path))?.result
  },
  stat: statAt,
  statOf: (file: number): FileStat => fileStat(fs.fstatSync(file, { bigint: true })),
  /** The size of the entry at a path if it has this inode; undefined for another entry, or none. Faster than `stat`. */
  sizeAt: (path: string, inode: number): number | undefined => {
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    return stat?.ino === inode ? stat.size : undefined
  },
  list: (directory: string): string[] => {
    refuseFile(directory)
    return fs.readdirSync(directory)
  },
}

/** A test makes single operations fail or stop. */
export type Files = Readonly<typeof nodeFiles>

/** Throws {@link NotAFile}. Called before a file is opened, because opening a FIFO blocks until there is a writer. */
function refuseOther(path: string, stat: FileStat | undefined): void {
  if (stat?.other !== undefined) throw new NotAFile(path, stat.other)
}

/** Whether a file has not changed. */
export function sameStat(a: FileStat, b: FileStat): boolean {
  return a.inode === b.inode && a.size === b.size && a.modified === b.modified && a.changed === b.changed
}

/** Writes all bytes, even if single writes are short. */
export function writeAll(files: Files, file: number, bytes: Uint8Array, at: number): void {
  let done = 0
  while (done < bytes.length) done += progress(files.write(file, bytes.subarray(done), at + done))
}

/** A file that will replace another one when it is complete. A crash may leave it; the next write replaces it. */
export function temporary(path: string): string {
  return `${path}.tmp`
}

/** Writes a file completely or not at all: into a temporary file, which is renamed. */
export function replace(files: Files, path: string, content: Uint8Array): void {
  const whole = temporary(path)
  files.remove(whole)
  create(files, whole, content)
  try {
    files.rename(whole, path)
  } catch (error) {
    files.remove(whole)
    throw error
  }
}

/** Creates a file with this content. Throws when it exists. */
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

/** Whether an error of the operating system has one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? '')
}

/** The message of an error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function progress(written: number): number {
  if (written === 0) throw new Error('the file system wrote no bytes')
  return written
}

/** The result of an operation. Undefined when it fails with this code: by default, because there is no such file. */
export function present<T>(work: () => T, code = 'ENOENT'): { readonly result: T } | undefined {
  try {
    return { result: work() }
  } catch (error) {
    if (hasCode(error, code)) return undefined
    throw error
  }
}

/** The result of an operation; undefined when it fails for any reason. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

// The recursive mkdir of Node never returns below /proc, and reports a read-only file system as ENOENT.
function makeDirectory(path: string): void {
  if (isDirectory(path)) return
  if (dirname(path) !== path) makeDirectory(dirname(path))
  try {
    fs.mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!hasCode(error, 'EEXIST') || !isDirectory(path)) throw error
  }
}

function isDirectory(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function statAt(path: string): FileStat | undefined {
  // Node 20 throws for a path below a file, later versions return undefined.
  const stat = present(() => fs.statSync(path, { bigint: true, throwIfNoEntry: false }), 'ENOTDIR')?.result
  if (stat === undefined) refuseFile(dirname(path))
  return stat && fileStat(stat)
}

/** Throws {@link NotAFile} if a file is in the place of a directory, or of one above it. */
function refuseFile(directory: string): void {
  const there = nearest(directory)
  if (!isDirectory(there)) throw new NotAFile(there, 'a file', 'a directory')
}

/** The path itself, or the closest one above it that exists. */
export function nearest(path: string): string {
  return fs.existsSync(path) ? path : nearest(dirname(path))
}

/** The kind of an entry that is not a file, for example `a directory`; undefined for a file. */
function otherThanFile(stat: BigIntStats): string | undefined {
  if (stat.isFile()) return undefined
  if (stat.isSymbolicLink()) return 'a symbolic link'
  if (stat.isDirectory()) return 'a directory'
  if (stat.isFIFO()) return 'a FIFO'
  return stat.isSocket() ? 'a socket' : 'a device'
}

function fileStat(stat: BigIntStats): FileStat {
  const { ino, size, mtimeNs, ctimeNs } = stat
  const other = otherThanFile(stat)
  return {
    inode: ino,
    size: Number(size),
    modified: mtimeNs,
    changed: ctimeNs,
    ...(other === undefined ? {} : { other }),
  }
}

/** Runs file operations of a request: an error of the operating system becomes `storage_unavailable`. */
export async function onDisk<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) throw error
    return refuse('storage_unavailable', { detail: `${path} could not be written: ${errorMessage(error)}.` })
  }
}

/**
 * File operations that first call `check`, which may throw, when they change a file or a folder.
 * @param check told whether the operation finds the file by its path, not by an open descriptor
 */
export function guardedFiles(files: Files, check: (byPath: boolean) => void): Files {
  const names = ['open', 'write', 'truncate', 'rename', 'remove']
  const guarded = [...names, 'makeDirectory', 'removeDirectory'].map((name) => {
    const operation = files[name as keyof Files] as (...args: unknown[]) => unknown
    const checked = (...args: unknown[]): unknown => {
      if (name !== 'open' || args[1] !== 'r') check(typeof args[0] === 'string')
      return operation(...args)
    }
    return [name, checked]
  })
  return { ...files, ...Object.fromEntries(guarded) }
}
