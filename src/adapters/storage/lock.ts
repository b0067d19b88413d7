import { join, resolve } from 'node:path'
import { Refusal, refuse } from '../../core/errors.ts'
import { describeHolder, LOCK, LOOK_AGAIN, SILENCE } from '../lock-file.ts'
import type { Cancel } from '../realtime.ts'
import { errorMessage, type Files, hasCode, NotAFile } from './files.ts'
import { Beats, type Moment } from './heartbeat.ts'
import { type Found, LockIo, type LockPorts, LockTaking, realPorts } from './lock-taking.ts'
import type { OnNotice } from './notice.ts'

/** Milliseconds after a heartbeat in which the lock is certainly ours. After that it is read again before a write is acknowledged. */
const FRESH = 2_000

/** Milliseconds without a look at the lock in which no other process can have come and gone. Less than {@link SILENCE}. */
const ATTENTIVE = 4_000

/** Reads of a lock that changes between them. */
const TRIES = 10

/** Milliseconds. A process that ends soon after its start needs no thread. */
const THREAD_AFTER = 300

/**
 * The lock of a data folder: one process at a time writes there, also where processes cannot see each other (containers,
 * hosts). It names its holder, and its content changes every second. In the holder's own pid namespace the holder is dead
 * when its process has ended; elsewhere when the content has not changed for {@link SILENCE}. So a holder whose last
 * heartbeat is older than {@link FRESH} reads the lock again before it acknowledges anything, and one that has lost it
 * acknowledges nothing any more.
 */
export class Lock {
  /** The data folder. */
  readonly folder: string
  readonly #path: string
  readonly #ports: LockPorts
  readonly #io: LockIo
  readonly #onNotice: OnNotice
  readonly #beats = new Beats()
  #lost: Refusal | undefined
  #stopThread: (() => Promise<void>) | undefined
  #cancelThread: Cancel | undefined

  private constructor(folder: string, ports: LockPorts, onNotice: OnNotice) {
    this.folder = resolve(folder)
    this.#path = join(this.folder, LOCK)
    this.#ports = ports
    this.#io = new LockIo(ports.files, ports.self)
    this.#onNotice = onNotice
  }

  /**
   * Creates the folder where there is none, and takes its lock. Throws `DataFolderLocked` when another process has it, and
   * `FolderUnusable` when the folder cannot be written.
   */
  static async take(folder: string, onNotice: OnNotice, ports: LockPorts = realPorts()): Promise<Lock> {
    const lock = new Lock(folder, ports, onNotice)
    try {
      ports.files.makeDirectory(lock.folder)
      await lock.#take()
      return lock
    } catch (error) {
      lock.#abandon()
      throw explain(lock.folder, error)
    }
  }

  /** The reason why nothing is written any more; undefined while the lock is ours. */
  get lost(): string | undefined {
    return this.#lost?.message
  }

  /** Throws a refusal, `storage_unavailable`, when the lock is not ours any more. Costs nothing while the heartbeat is fresh. */
  check(): void {
    if (this.#lost === undefined && isWithin(FRESH, this.#beats.last, this.#now())) return
    this.confirm()
  }

  /** As {@link check}, and reads the lock in any case. Takes it again when it has been removed. */
  confirm(): void {
    if (this.#lost !== undefined) throw this.#lost
    try {
      this.#beats.beaten(this.#confirmed())
    } catch (error) {
      if (error instanceof Refusal) throw error
      const way =
        error instanceof NotAFile
          ? {}
          : { mitigation: 'Make the data folder usable again; writing resumes by itself.' }
      refuse('storage_unavailable', {
        detail: `The lock of the data folder cannot be checked: ${errorMessage(error)}.`,
        ...way,
      })
    }
  }

  /** Writes heartbeats from a thread of their own from now on, or soon. */
  startHeartbeat(when: 'now' | 'soon'): void {
    this.check()
    if (when === 'now') this.#startThread()
    else this.#cancelThread ??= this.#ports.later(THREAD_AFTER, () => this.#startThread())
  }

  /** Removes the lock, if it is still ours. */
  async release(): Promise<void> {
    await this.#stop()
    try {
      if (this.#lost === undefined) this.#io.release(this.#path)
    } catch (error) {
      this.#onNotice({
        level: 'warn',
        event: 'lock_left',
        message: `The lock of ${this.folder} could not be removed: ${errorMessage(error)}. It opens when this process ends; to use the folder sooner, delete ${this.#path}.`,
        file: this.#path,
      })
    }
    this.#lost ??= closed()
  }

  // The caller reports the first failure.
  #abandon(): void {
    try {
      this.#io.release(this.#path)
    } catch {}
  }

  async #take(): Promise<void> {
    const taking = new LockTaking(this.folder, this.#path, this.#ports, this.#io)
    let waits = false
    for (;;) {
      const now = this.#now()
      const blocker = taking.try()
      if (blocker === undefined) {
        this.#beats.beaten(now)
        return
      }
      if (!waits) this.#sayWaiting(blocker)
      waits = true
      await new Promise<void>((done) => this.#ports.later(LOOK_AGAIN, done))
    }
  }

  #now(): Moment {
    return { ticks: this.#ports.ticks(), wall: this.#ports.hostTime() }
  }

  /** The moment at which the lock was ours. */
  #confirmed(): Moment {
    for (let tries = 0; tries < TRIES; tries++) {
      const now = this.#now()
      if (this.#io.beat(this.#path, now.ticks)) return now
      const found = this.#io.read(this.#path)
      if (found !== undefined && found.holder?.id !== this.#ports.self.id) this.#lose(found)
      if (found !== undefined) continue
      // Removed, perhaps with the folder. A process that came and went while this one slept has removed it, too.
      if (!isWithin(ATTENTIVE, this.#beats.lastLook, now)) this.#lose(undefined)
      this.#ports.files.makeDirectory(this.folder)
      if (this.#io.claim(this.#path, now.ticks)) return now
    }
    throw new Error(`${this.#path} changes all the time`)
  }

  #lose(found: Found | undefined): never {
    const { self } = this.#ports
    const who =
      found === undefined ? 'A process that has ended since' : describeHolder(found.holder, self.place)
    const detail = `This emulator has lost its data folder: ${who} has taken over ${this.#path}, because there was no heartbeat of this process (${self.pid}) for ${SILENCE / 1_000} s, or because the file was removed.`
    const mitigation =
      'Nothing is written any more; reads show the last state that this emulator had. Stop it, and use the other one, or start it again on another data folder (--data).'
    this.#lost = new Refusal('storage_unavailable', { detail, mitigation })
    const message = `${detail} ${mitigation}`
    this.#onNotice({ level: 'error', event: 'lock_lost', message, file: this.#path })
    void this.#stop()
    throw this.#lost
  }

  #startThread(): void {
    this.#cancelThread?.()
    if (this.#lost !== undefined) return
    this.#stopThread ??= this.#ports.startHeartbeat({
      path: this.#path,
      id: this.#ports.self.id,
      beats: this.#beats,
      onTaken: () => this.#look(),
      onEnd: (reason) => this.#sayEnded(reason),
    })
  }

  async #stop(): Promise<void> {
    this.#cancelThread?.()
    await this.#stopThread?.()
  }

  // The thread has seen another holder. Here this is only reported; writes are refused.
  #look(): void {
    try {
      if (this.#lost === undefined) this.confirm()
    } catch {}
  }

  #sayWaiting({ holder }: Found): void {
    const { place } = this.#ports.self
    this.#onNotice({
      level: 'warn',
      event: 'lock_waiting',
      message: `${this.#path} belongs to ${describeHolder(holder, place)}, which cannot be seen from here. Waiting up to ${SILENCE / 1_000} s for its heartbeat: if there is none, it has ended, and this process takes over.`,
      file: this.#path,
    })
  }

  #sayEnded(reason: string): void {
    this.#onNotice({
      level: 'warn',
      event: 'lock_unwatched',
      message: `The heartbeat of ${this.#path} has stopped: ${reason}. Nothing is lost: the lock is read before each write. But a process in another container or host may take over while nothing is written. Start the emulator again.`,
      file: this.#path,
    })
  }
}

// A host clock that has been set looks like a sleep, which costs one read of the lock.
function isWithin(ms: number, { ticks, wall }: Moment, now: Moment): boolean {
  return now.ticks - ticks <= ms && Math.abs(now.wall - wall) <= ms
}

function closed(): Refusal {
  return new Refusal('storage_unavailable', { detail: 'The emulator has been closed.' })
}

/**
 * Files that are written only while the lock of their folder is ours. A write or a sync checks that once more when it is done:
 * otherwise a new holder may have read the file before.
 */
export function guardedFiles(files: Files, lock: Pick<Lock, 'check' | 'confirm'>): Files {
  const before = <A extends unknown[], R>(operation: (...args: A) => R) => {
    return (...args: A): R => {
      lock.check()
      return operation(...args)
    }
  }
  const after = <A extends unknown[]>(operation: (...args: A) => Promise<void>) => {
    return async (...args: A): Promise<void> => {
      await operation(...args)
      lock.check()
    }
  }
  return {
    ...files,
    open: (path, how) => {
      if (how !== 'r') lock.check()
      return files.open(path, how)
    },
    write: (...args) => {
      lock.check()
      const written = files.write(...args)
      lock.check()
      return written
    },
    // Renaming is rare, and must never replace a file of another process: the lock is read in any case.
    rename: (from, to) => {
      lock.confirm()
      files.rename(from, to)
    },
    writeSoon: before(files.writeSoon),
    truncate: before(files.truncate),
    truncatePath: before(files.truncatePath),
    link: before(files.link),
    copy: before(files.copy),
    remove: before(files.remove),
    makeDirectory: before(files.makeDirectory),
    removeDirectory: before(files.removeDirectory),
    sync: after(files.sync),
    datasync: after(files.datasync),
    syncDirectory: after(files.syncDirectory),
  }
}

/** Codes of the operating system for a folder that cannot be written, in words. */
const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'it is on a read-only file system',
  EACCES: 'its permissions do not allow it',
  EPERM: 'the system does not allow it',
  ENOENT: 'it is not there and cannot be made',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its path is too long',
}

/** A clear error for one of {@link REASONS}, with the `code` and `syscall` of the operating system; any other error as it is. */
function explain(folder: string, error: unknown): unknown {
  if (!hasCode(error, ...Object.keys(REASONS))) return error
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException
  const user = process.getuid === undefined ? '' : ` (user id ${process.getuid()})`
  const message = `The data folder ${folder} cannot be written by this process${user}: ${REASONS[code]} (${errorMessage(error)}). Make it writable, choose another one with --data, or keep everything in memory with --ephemeral`
  return Object.assign(new Error(message, { cause: error }), { name: 'FolderUnusable', code, syscall })
}
