import { createHash, randomBytes } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { type HostTime, hostTime } from '../../core/time/clock.ts'
import {
  BEAT_AT,
  beatAt,
  describeHolder,
  holderIn,
  isHere,
  isRunning,
  LOCK_START,
  type LocatedHolder,
  type LockHolder,
  lockText,
  Observation,
  type ProcessIdentity,
  thisHolder,
  ticks,
} from '../lock-file.ts'
import { type Later, later } from '../realtime.ts'
import { create, type Files, hasCode, NotAFile, nodeFiles, otherThanFile, writeAll } from './files.ts'
import { type StartHeartbeat, startHeartbeat } from './heartbeat.ts'
import { siblings } from './names.ts'

/** Thrown when another process, or another emulator in this process, uses the data folder. */
export class DataFolderLocked extends Error {
  /** The process id of the holder; undefined if the lock does not contain it. */
  readonly pid: number | undefined

  constructor(folder: string, lock: string, who: string, pid: number | undefined) {
    super(
      `${folder} is in use by ${who}. Stop that process, or choose another data folder (--data). If that process is not an emulator, delete ${lock}.`,
    )
    this.name = 'DataFolderLocked'
    this.pid = pid
  }
}

const TRIES = 1000

/** Files that a crash or a start in progress leaves next to a lock. */
const LEFT_OVER = /\.(?:tmp|dead|evict-[\w-]+)$/

/**
 * Acquires the lock of a folder. If several processes try at once, exactly one succeeds, wherever they run:
 * - A lock is created complete, by link(2), which fails if there is already one.
 * - It is removed by its holder, or by a process that has the right to evict the holder of this one acquisition. The right is
 *   itself a lock, named after the acquisition. If its holder dies, it is taken over in the same way.
 */
export class LockTaking {
  readonly #folder: string
  readonly #path: string
  readonly #ports: LockPorts
  readonly #io: LockIo
  readonly #observations = new Map<string, Observation>()

  constructor(folder: string, path: string, ports: LockPorts, io: LockIo) {
    this.#folder = folder
    this.#path = path
    this.#ports = ports
    this.#io = io
  }

  /**
   * Tries once, without waiting. Undefined when the lock is ours. Otherwise returns the lock of a holder elsewhere that may be
   * dead: try again later. Throws {@link DataFolderLocked} when the holder is alive.
   */
  try(): Found | undefined {
    const blocker = this.#take(this.#path)
    if (blocker === undefined) this.#sweep()
    return blocker
  }

  #take(path: string): Found | undefined {
    for (let tries = 0; tries < TRIES; tries++) {
      if (this.#io.claim(path, this.#ports.ticks())) return undefined
      const before = this.#ports.ticks()
      const found = this.#io.read(path)
      if (found === undefined) continue
      const verdict = this.#observationOf(path).look(found.text, before, this.#ports.ticks())
      if (verdict === 'alive') throw this.#locked(found.holder)
      if (verdict === 'unknown') return found
      const blocker = this.#evict(path, found)
      if (blocker !== undefined) return blocker
    }
    throw new Error(`The holder of ${path} keeps changing; find the other processes that use ${this.#folder}`)
  }

  #observationOf(path: string): Observation {
    const { self, isRunning } = this.#ports
    const observation = this.#observations.get(path) ?? new Observation(self.place, isRunning)
    this.#observations.set(path, observation)
    return observation
  }

  /*
   * Removing a lock by its name could remove the one that a faster process has just taken. So only one process at a time may
   * remove the lock of one acquisition, and it first checks again that it is still the same lock.
   */
  #evict(path: string, { holder, text }: Found): Found | undefined {
    const right = `${this.#path}.evict-${holder?.id ?? createHash('sha256').update(text).digest('hex')}`
    const blocker = this.#take(right)
    if (blocker !== undefined) return blocker
    try {
      if (this.#io.read(path)?.text === text) this.#io.evict(path, text)
    } finally {
      this.#io.release(right)
    }
    return undefined
  }

  #locked(holder: LockHolder | undefined): DataFolderLocked {
    const who = describeHolder(holder, this.#ports.self.place)
    return new DataFolderLocked(this.#folder, this.#path, who, holder?.pid)
  }

  // This process has the lock, so no other process needs a right to evict earlier holders. If a start elsewhere loses its file
  // by this, it tries again.
  #sweep(): void {
    for (const path of siblings(this.#ports.files, this.#path)) {
      if (LEFT_OVER.test(path) && !this.#isInUse(path)) this.#ports.files.remove(path)
    }
  }

  #isInUse(path: string): boolean {
    const { self, isRunning } = this.#ports
    try {
      const holder = this.#io.read(path)?.holder
      return holder !== undefined && isHere(holder, self.place) && isRunning(holder)
    } catch (error) {
      // It is not a lock but a file of the user, which must stay.
      if (error instanceof NotAFile) return true
      throw error
    }
  }
}

/** A lock as it was read. */
export interface Found {
  readonly text: string
  /** Undefined for a lock that has not been written completely. */
  readonly holder: LockHolder | undefined
}

const NEEDED = 'the lock of the data folder'

/** The operations on lock files. None of them ever changes the content of another holder's lock. */
export class LockIo {
  readonly #files: Files
  readonly #self: LocatedHolder
  #made = 0

  constructor(files: Files, self: LocatedHolder) {
    this.#files = files
    this.#self = self
  }

  /** The content of a lock, undefined when there is none. Throws {@link NotAFile}. */
  read(path: string): Found | undefined {
    // Reading a FIFO would block until there is a writer.
    const stat = lstatSync(path, { throwIfNoEntry: false })
    const other = stat && otherThanFile(stat)
    if (other !== undefined) throw new NotAFile(path, other, NEEDED)
    const text = this.#files.read(path)?.toString()
    if (text === undefined) return undefined
    const holder = holderIn(text)
    if (holder === undefined && !isUnfinished(text))
      throw new NotAFile(path, 'a file of another program', NEEDED)
    return { text, holder }
  }

  isOurs(path: string): boolean {
    return this.read(path)?.holder?.id === this.#self.id
  }

  /** Creates our own lock. False when there is already one. @param now monotonic milliseconds */
  claim(path: string, now: number): boolean {
    return this.#place(path, lockText(this.#self, beatAt(now)))
  }

  /**
   * Writes a heartbeat into our own lock. False when it is not ours. The file is opened and read before it is written, so that
   * the heartbeat cannot go into another lock that gets the name at that moment. Then the name is checked again: a process that
   * evicts us after that finds the new content.
   */
  beat(path: string, now: number): boolean {
    if (!this.isOurs(path)) return false
    const file = this.#files.open(path, 'r+')
    try {
      const buffer = Buffer.alloc(4096)
      const length = this.#files.readInto(file, buffer, 0)
      if (holderIn(buffer.toString('utf8', 0, length))?.id !== this.#self.id) return false
      writeAll(this.#files, file, Buffer.from(beatAt(now)), BEAT_AT)
    } finally {
      this.#files.close(file)
    }
    return this.isOurs(path)
  }

  /** Removes our own lock. The lock of another holder stays. */
  release(path: string): void {
    if (this.isOurs(path)) this.#files.remove(path)
  }

  /**
   * Removes a lock that has exactly this content. It is first moved to a private name and read there. If it has changed at the
   * last moment, for example by a heartbeat, it is moved back.
   */
  evict(path: string, text: string): void {
    const aside = this.#ownName(path, 'dead')
    try {
      this.#files.rename(path, aside)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      throw error
    }
    const moved = this.#files.read(aside)?.toString()
    if (moved !== undefined && moved !== text) this.#place(path, moved)
    this.#files.remove(aside)
  }

  // The complete file gets its name by link(2), so that exactly one process succeeds and no process reads half a lock.
  #place(path: string, text: string): boolean {
    const content = Buffer.from(text)
    const whole = this.#ownName(path, 'tmp')
    create(this.#files, whole, content)
    try {
      this.#files.link(whole, path)
      return true
    } catch (error) {
      if (hasCode(error, 'EEXIST', 'ENOENT')) return false
      if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
      return this.#placeWithoutLinks(path, content)
    } finally {
      this.#files.remove(whole)
    }
  }

  // Some file systems have no links. There a reader may see the lock before its content, and waits for it.
  #placeWithoutLinks(path: string, content: Uint8Array): boolean {
    try {
      create(this.#files, path, content)
      return true
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false
      throw error
    }
  }

  #ownName(path: string, word: string): string {
    this.#made += 1
    return `${path}.${this.#self.id}-${this.#made}.${word}`
  }
}

// The lock is being written, or a power cut has left it incomplete. Any other file belongs to the user and is not removed.
function isUnfinished(text: string): boolean {
  return text.startsWith(LOCK_START) || /^\0*$/.test(text)
}

/** The process, clocks and disk operations that a lock uses. Tests replace them. */
export interface LockPorts {
  readonly files: Files
  /** The process that takes the lock. */
  readonly self: LocatedHolder
  /** Whether a process in the same place is running. */
  readonly isRunning: (process: ProcessIdentity) => boolean
  readonly ticks: () => number
  readonly hostTime: HostTime
  readonly later: Later
  readonly startHeartbeat: StartHeartbeat
}

/** The real ports, with a random id for one acquisition. */
export function realPorts(): LockPorts {
  return {
    files: nodeFiles,
    self: thisHolder(randomBytes(12).toString('hex')),
    isRunning,
    ticks,
    hostTime,
    later,
    startHeartbeat,
  }
}

/**
 * Version 0.1.0 had a lock for each state file, `<file>.lock`, and ignores the lock of the folder. Throws
 * {@link DataFolderLocked} while the process of such a lock runs. Otherwise removes the lock and its leftover files.
 */
export function clearOldLock(files: Files, file: string): void {
  const path = `${file}.lock`
  // Only a file can be a lock of that version. Reading another entry, such as a FIFO, could block.
  const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  const holder = isFile ? holderIn(files.read(path)?.toString() ?? '') : undefined
  if (holder !== undefined && isRunning(holder)) {
    throw new DataFolderLocked(file, path, `process ${holder.pid}, an emulator of version 0.1`, holder.pid)
  }
  if (isFile) files.remove(path)
  for (const each of siblings(files, path)) if (LEFT_OVER.test(each)) files.remove(each)
}
