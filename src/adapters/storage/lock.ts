import { join, resolve } from 'node:path'
import { Refusal, refuse } from '../../core/errors.ts'
import { describeHolder, LOCK, LOOK_AGAIN, SILENCE } from '../lock-file.ts'
import type { Cancel } from '../realtime.ts'
import { errorMessage, type Files, hasCode, NotAFile } from './files.ts'
import { Beats, type Moment } from './heartbeat.ts'
import { type Found, LockIo, type LockPorts, LockTaking, realPorts } from './lock-taking.ts'
import type { OnNotice } from './notice.ts'

/** Milliseconds after a heartbeat in which the lock is certainly ours. Later it is read again before a write is acknowledged. */
const FRESH = 2_000

/** Milliseconds between two reads of the lock in which no other process can take and release it. Less than {@link SILENCE}. */
const ATTENTIVE = 4_000

/** Maximum tries for a lock that changes at each of them. */
const TRIES = 10

/** Milliseconds before the thread starts. A process that ends earlier does not need it. */
const THREAD_AFTER = 300

/**
 * The lock of a data folder. Only one process at a time writes there, even if processes cannot see each other (containers,
 * hosts). The lock names its holder, and its content changes every second. For processes in the same pid namespace, the
 * holder is dead when its process has ended. For others, it is dead when the content has not changed for {@link SILENCE}
 * milliseconds. So a holder whose last heartbeat is older than {@link FRESH} milliseconds reads the lock again before it
 * acknowledges a write. A holder that has lost the lock acknowledges nothing any more.
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
   * Creates the folder if it is missing, and takes its lock. Waits until a holder elsewhere is known to be alive or dead.
   * Throws `DataFolderLocked` when another process has the lock, and `FolderUnusable` when the folder cannot be written.
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

  /** Throws a refusal, `storage_unavailable`, when the lock is not ours any more. Reads no file while the heartbeat is fresh. */
  check(): void {
    if (this.#lost === undefined && isWithin(FRESH, this.#beats.last, this.#now())) return
    this.confirm()
  }

  /** Like {@link check}, but always reads the lock. Takes it again when it has been removed. */
  confirm(): void {
    if (this.#lost !== undefined) throw this.#lost
    try {
      this.#beats.beaten(this.#confirmed())
    } catch (error) {
      if (error instanceof Refusal) throw error
      const way =
        error instanceof NotAFile
          ? {}
          : { mitigation: 'Make the data folder usable again; writing then resumes automatically.' }
      refuse('storage_unavailable', {
        detail: `The lock of the data folder cannot be checked: ${errorMessage(error)}.`,
        ...way,
      })
    }
  }

  /** Starts to write heartbeats from a separate thread, now or after {@link THREAD_AFTER} milliseconds. */
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
        message: `The lock of ${this.folder} could not be removed: ${errorMessage(error)}. The lock ends with this process; to use the folder sooner, delete ${this.#path}.`,
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

  /** Writes a heartbeat, or takes a removed lock again. @returns a moment at which the lock was ours */
  #confirmed(): Moment {
    for (let tries = 0; tries < TRIES; tries++) {
      const now = this.#now()
      if (this.#io.beat(this.#path, now.ticks)) return now
      const found = this.#io.read(this.#path)
      if (found !== undefined && found.holder?.id !== this.#ports.self.id) this.#lose(found)
      if (found !== undefined) continue
      // The lock was removed, perhaps with the folder. If this process slept, another one may have taken and released it.
      if (!isWithin(ATTENTIVE, this.#beats.lastLook, now)) this.#lose(undefined)
      this.#ports.files.makeDirectory(this.folder)
      if (this.#io.claim(this.#path, now.ticks)) return now
    }
    throw new Error(`${this.#path} keeps changing`)
  }

  #lose(found: Found | undefined): never {
    const { self } = this.#ports
    const who =
      found === undefined ? 'A process that has since ended' : describeHolder(found.holder, self.place)
    const detail = `This emulator has lost its data folder: ${who} has taken over ${this.#path}, because there was no heartbeat of this process (${self.pid}) for ${SILENCE / 1_000} s, or because the file was removed.`
    const mitigation =
      'This emulator writes nothing more; reads return its last state. Stop it and use the other emulator, or start it again with another data folder (--data).'
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

  // The thread has found another holder. This only reports the loss; later writes are refused.
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
      message: `${this.#path} belongs to ${describeHolder(holder, place)}, which is not visible from this process. Waiting up to ${SILENCE / 1_000} s for its heartbeat: if there is none, it has ended, and this process takes over.`,
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

// A change of the host clock looks like a sleep. It only costs one read of the lock.
function isWithin(ms: number, { ticks, wall }: Moment, now: Moment): boolean {
  return now.ticks - ticks <= ms && Math.abs(now.wall - wall) <= ms
}

function closed(): Refusal {
  return new Refusal('storage_unavailable', { detail: 'The emulator has been closed.' })
}

/**
 * Returns file operations that write only while the lock of their folder is ours. A write or a sync checks the lock again
 * when it is done, because a new holder may have read the file before.
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
    // Renaming is rare and must never replace a file of another process, so the lock is always read.
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

/** Error codes of the operating system for a folder that cannot be written, with descriptions. */
const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'it is on a read-only file system',
  EACCES: 'its permissions do not allow it',
  EPERM: 'the system does not allow it',
  ENOENT: 'it does not exist and cannot be created',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  ELOOP: 'its links form a cycle',
  ENAMETOOLONG: 'its path is too long',
}

/** A clear error for one of {@link REASONS}, with `code` and `syscall` of the original. Other errors are returned unchanged. */
function explain(folder: string, error: unknown): unknown {
  if (!hasCode(error, ...Object.keys(REASONS))) return error
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException
  const user = process.getuid === undefined ? '' : ` (user id ${process.getuid()})`
  const message = `The data folder ${folder} cannot be written by this process${user}: ${REASONS[code]} (${errorMessage(error)}). Make it writable, choose another one with --data, or keep everything in memory with --ephemeral`
  return Object.assign(new Error(message, { cause: error }), { name: 'FolderUnusable', code, syscall })
}
