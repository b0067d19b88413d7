import { isObject } from '../../kernel/json.ts'
import { isRunning, type ProcessIdentity, thisProcess } from '../process-identity.ts'
import { sha256 } from './adapter.ts'
import { create, type Files, hasCode } from './files.ts'
import { siblings, temporary, uniqueName } from './names.ts'

/** The state file belongs to another process, or to another emulator of this one. */
export class StateFileLocked extends Error {
  readonly pid: number

  constructor(file: string, lock: string, pid: number) {
    super(
      `${file} is in use by process ${pid}. Stop that process, or choose another data directory. If it is no emulator, delete ${lock}.`,
    )
    this.name = 'StateFileLocked'
    this.pid = pid
  }
}

interface Holder extends ProcessIdentity {
  /** One acquisition; no two ever have the same. */
  readonly id: string
}

const TRIES = 1000

/**
 * A lock on a state file that the end of its process opens, however it ends: it names the process, and a process that is
 * not there any more holds nothing. Taken by giving a complete file its name with link(2), so that among any number of
 * simultaneous starts one succeeds and nobody ever reads half a lock.
 */
export class Lock {
  readonly #files: Files
  readonly #file: string
  readonly #path: string
  readonly #self: Holder

  private constructor(files: Files, file: string) {
    this.#files = files
    this.#file = file
    this.#path = `${file}.lock`
    this.#self = { ...thisProcess(), id: uniqueName() }
  }

  /** Throws {@link StateFileLocked} when a running process has it. */
  static take(files: Files, file: string): Lock {
    const lock = new Lock(files, file)
    lock.#take(lock.#path)
    lock.#sweep()
    return lock
  }

  /** Makes sure that the lock is still ours, and takes it again when somebody has removed it. Throws {@link StateFileLocked}. */
  confirm(): void {
    if (this.#holderOf(this.#path)?.id !== this.#self.id) this.#take(this.#path)
  }

  /** Gives it back. A lock that has become somebody else's stays. */
  release(): void {
    if (this.#holderOf(this.#path)?.id === this.#self.id) this.#files.remove(this.#path)
  }

  #take(path: string): void {
    for (let tries = 0; tries < TRIES; tries++) {
      if (this.#claim(path)) return
      const holder = this.#holderOf(path)
      if (holder === undefined) continue
      if (isRunning(holder)) throw new StateFileLocked(this.#file, this.#path, holder.pid)
      this.#evict(path, holder)
    }
    throw new Error(`${path} changes hands without end; see what else uses ${this.#file}`)
  }

  /*
   * Removing a lock by its name could remove the one that a faster process has just taken. So the right to remove the lock
   * of one acquisition is itself a lock, named after that acquisition: whoever has it and still finds that lock is the only
   * one who can remove it. If its holder dies before, the same is done with it.
   */
  #evict(path: string, holder: Holder): void {
    const right = `${this.#path}.evict-${holder.id}`
    this.#take(right)
    try {
      if (this.#holderOf(path)?.id === holder.id) this.#files.remove(path)
    } finally {
      this.#files.remove(right)
    }
  }

  #claim(path: string): boolean {
    const content = Buffer.from(`${JSON.stringify(this.#self)}\n`)
    const whole = temporary(this.#path)
    create(this.#files, whole, content)
    try {
      this.#files.link(whole, path)
      return true
    } catch (error) {
      if (hasCode(error, 'EEXIST', 'ENOENT')) return false
      if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw error
      return this.#claimWithoutLinks(path, content)
    } finally {
      this.#files.remove(whole)
    }
  }

  // Some file systems have no links. There a reader may see the lock before its content, and take it for a dead one.
  #claimWithoutLinks(path: string, content: Uint8Array): boolean {
    try {
      create(this.#files, path, content)
      return true
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false
      throw error
    }
  }

  #holderOf(path: string): Holder | undefined {
    const bytes = this.#files.read(path)
    if (bytes === undefined) return undefined
    return parsed(bytes.toString()) ?? { pid: 0, started: null, id: sha256(bytes) }
  }

  // What dead processes left behind. The lock being ours, nobody needs a right to evict its former holders any more.
  #sweep(): void {
    for (const path of siblings(this.#files, this.#path)) {
      const holder = this.#holderOf(path)
      if (holder !== undefined && !isRunning(holder)) this.#files.remove(path)
    }
  }
}

function parsed(text: string): Holder | undefined {
  try {
    const raw: unknown = JSON.parse(text)
    if (!isObject(raw) || !Number.isSafeInteger(raw.pid) || typeof raw.id !== 'string') return undefined
    if (!/^[\w-]+$/.test(raw.id)) return undefined
    return { pid: Number(raw.pid), started: typeof raw.started === 'string' ? raw.started : null, id: raw.id }
  } catch {
    return undefined
  }
}
