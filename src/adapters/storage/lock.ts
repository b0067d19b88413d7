import { randomBytes } from 'node:crypto'
import { utimesSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Refusal } from '../../core/errors.ts'
import { parsedJson } from '../../core/json.ts'
import { elapsedTime, hostTime } from '../../core/time/clock.ts'
import { later, repeatEvery } from '../../core/time/realtime.ts'
import { attempt, create, nodeFiles as fs, present } from './files.ts'
import type { OnNotice } from './notice.ts'
import { isRunning, type ProcessIdentity, thisProcess } from './process-identity.ts'

// Milliseconds: between two beats; after a beat, while a write needs no check; without a beat, until a holder that cannot be
// checked counts as dead; between two looks at such a holder.
const [BEAT, FRESH, STALE, LOOK_AGAIN] = [1_000, 3_000, 5_000, 250]

/** A lock that was read, and the time of its last beat. Its pid is 0 while it is being written, or after a kill then. */
type Found = ProcessIdentity & { readonly nonce: string; readonly beat: number }

const MISSING: Found = { pid: 0, host: '', nonce: '', beat: 0 }

/** The process, clocks and timers that a lock uses. Tests replace them. */
export const realPorts = { thisProcess, elapsedTime, hostTime, later, repeatEvery }

/**
 * The lock of a data folder: one process at a time writes there. The file `lock` names the holder, which touches it every
 * second. A dead holder is replaced in two steps. Its mark, a file named after its nonce, is created with the content of the
 * next lock; only one process can do that. If the lock is still the same then, the mark is renamed to `lock`. No nonce
 * returns, so a process that was too slow finds another lock there and changes nothing. If a process dies between the two
 * steps, its mark is taken over in the same way. No links are needed, which some file systems lack.
 */
export class Lock {
  readonly #path: string
  readonly #onNotice: OnNotice
  readonly #ports: typeof realPorts
  readonly #self: ProcessIdentity & { readonly nonce: string }
  /** The first beat that was read of each holder, and when. */
  readonly #seen = new Map<string, { readonly beat: number; readonly since: number }>()
  #beaten = 0
  #stopBeating = (): void => {}
  #lost: Refusal | undefined

  private constructor(path: string, onNotice: OnNotice, ports: typeof realPorts) {
    this.#path = path
    this.#onNotice = onNotice
    this.#ports = ports
    this.#self = { ...ports.thisProcess(), nonce: randomBytes(12).toString('hex') }
  }

  /** Takes the lock of a folder, which is created if it is missing. Waits until it is known whether the holder is alive. */
  static take(data: string, onNotice: OnNotice, ports = realPorts): Promise<Lock> {
    const path = join(resolve(data), 'lock')
    const lock = new Lock(path, onNotice, ports)
    return new Promise((taken, failed) => {
      const look = (looks: number): void => {
        try {
          fs.makeDirectory(dirname(path))
          const blocker = lock.#claim(path)
          if (blocker === undefined) {
            // The beat reports a loss; the next check reports any other failure.
            lock.#stopBeating = ports.repeatEvery(BEAT, () => void attempt(() => lock.#beat()))
            taken(lock)
            return
          }
          // At that look a lock that was being written is complete, and a live holder has beaten.
          if (looks === (2 * BEAT) / LOOK_AGAIN) {
            const message = `${path} names ${describe(blocker, lock.#self)}, and it is not known whether that process still uses the folder. It is replaced if its file does not change for 5 s.`
            onNotice({ level: 'warn', event: 'lock_waiting', message, file: path })
          }
          ports.later(LOOK_AGAIN, () => look(looks + 1))
        } catch (error) {
          failed(error)
        }
      }
      look(0)
    })
  }

  /** Why nothing is written any more; undefined while the lock is ours. */
  get lost(): string | undefined {
    return this.#lost?.message
  }

  /**
   * Must be called before each write. Throws `storage_unavailable` once the lock is lost. Reads nothing soon after a beat.
   * @param byPath the write finds its file by the path, where another folder may be since the last beat
   */
  check(byPath = false): void {
    const isOld = Math.abs(this.#ports.hostTime() - this.#beaten) > FRESH
    if (byPath || isOld || this.#lost !== undefined) this.#beat()
  }

  /** Removes the lock if it is still ours. If that fails, the next start finds that this process has ended. */
  release(): void {
    this.#stopBeating()
    attempt(() => {
      this.#beat()
      fs.remove(this.#path)
    })
    this.#lost ??= new Refusal('storage_unavailable', { detail: 'The emulator has been closed.' })
  }

  /** Puts our lock at a path. Returns the lock that is there while it is not known whether its holder is alive. */
  #claim(path: string): Found | undefined {
    for (;;) {
      const [start, wall] = [this.#ports.elapsedTime(), this.#ports.hostTime()]
      const text = Buffer.from(`${JSON.stringify(this.#self)}\n`)
      if (present(() => create(fs, path, text), 'EEXIST') !== undefined) this.#beaten = wall
      const found = readLock(path)
      if (found.nonce === this.#self.nonce) return undefined
      if (!this.#isDead(found, start)) return found
      if (found === MISSING)
        throw new Error(`${path} cannot be read. Delete it if no emulator uses the folder.`)
      const mark = `${this.#path}.${found.nonce}`
      const blocker = this.#claim(mark)
      if (blocker !== undefined) return blocker
      const { nonce, beat } = readLock(path)
      // A holder that was only stopped may have woken up.
      if (nonce !== found.nonce || beat !== found.beat) fs.remove(mark)
      else present(() => fs.rename(mark, path))
    }
  }

  // Throws when the holder beats. Only that shows that it is alive and holds this folder: its pid may belong to a later process,
  // often in a restarted container, and the folder may be a copy.
  #isDead(found: Found, start: number): boolean {
    if (found.host === this.#self.host && !isRunning(found)) return true
    const { nonce, beat } = found
    const seen = this.#seen.get(nonce) ?? { beat, since: this.#ports.elapsedTime() }
    this.#seen.set(nonce, seen)
    if (seen.beat === beat) return start - seen.since >= STALE
    const user = describe(found, this.#self)
    throw new Error(
      `${dirname(this.#path)} is in use by ${user}. Stop that process, or choose another data folder (--data). If that process is not an emulator, delete ${this.#path}.`,
    )
  }

  // In this order, because a process that replaces a stopped holder creates the mark before it compares the beat.
  #beat(): void {
    if (this.#lost !== undefined) throw this.#lost
    const { nonce, pid } = this.#self
    // Later than the last one, also while a test has stopped the clock.
    const now = Math.max(this.#ports.hostTime(), this.#beaten + 1)
    present(() => utimesSync(this.#path, now / 1_000, now / 1_000))
    const mark = readLock(`${this.#path}.${nonce}`)
    const found = mark === MISSING ? readLock(this.#path) : mark
    this.#beaten = now
    if (found.nonce === nonce) return
    const user = found === MISSING ? 'no process' : describe(found, this.#self)
    const detail = `This emulator has lost its data folder: ${this.#path} now belongs to ${user}. The file was removed, the folder was moved, or process ${pid} was stopped for more than 5 s.`
    const mitigation =
      'Nothing more is written; reads return the last state. Stop this emulator, and use the other one or start again.'
    this.#lost = new Refusal('storage_unavailable', { detail, mitigation })
    const message = `${detail} ${mitigation}`
    this.#onNotice({ level: 'error', event: 'lock_lost', message, file: this.#path })
    throw this.#lost
  }
}

/** Describes the process that uses a folder; undefined when there is none. The lock is read, not taken. */
export function userOf(data: string): string | undefined {
  const [found, self] = [readLock(join(resolve(data), 'lock')), thisProcess()]
  const hasEnded = found.host === self.host && !isRunning(found)
  return hasEnded || hostTime() - found.beat >= STALE ? undefined : describe(found, self)
}

function readLock(path: string): Found {
  const [text, stat] = [fs.read(path)?.toString(), fs.stat(path)]
  if (text === undefined || stat === undefined) return MISSING
  const beat = Number(stat.modified) / 1e6
  const { pid = 0, host = '', nonce = '' } = (parsedJson(text) ?? {}) as Partial<Found>
  // The nonce becomes a part of paths.
  if (pid > 0 && /^\w+$/.test(nonce)) return { pid, host, nonce, beat }
  if (!/^(\0*$|\{"pid":)/.test(text))
    throw new Error(`${path} is not a lock. Move it away, or use another folder (--data).`)
  return { ...MISSING, nonce: `${stat.inode}_${stat.modified}`, beat }
}

function describe({ pid, host }: ProcessIdentity, here: ProcessIdentity): string {
  if (pid === 0) return 'an unknown process'
  return `process ${pid}${host === here.host ? '' : ` on host "${String(host).split(' ')[0]}"`}`
}
