import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { isObject } from '../core/json.ts'
/** Name of the lock in a data folder. */
export const LOCK = 'lock'

/** A holder in another place whose lock has not changed for this many milliseconds is dead. */
export const SILENCE = 5_000

/** Monotonic milliseconds, the same in all threads. They may stand still while the machine sleeps. */
export function ticks(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Milliseconds between two looks at the lock of such a holder. */
export const LOOK_AGAIN = 250

/** Where a process runs. Its process number means something to the processes of the same place only. */
export interface ProcessPlace {
  readonly host: string
  /** One run of the operating system; null where it has no name. */
  readonly boot: string | null
  /** The pid namespace: a container has its own. Null where there are none. */
  readonly namespace: string | null
}

/** Who has a lock. */
export interface LockHolder extends ProcessIdentity {
  /** One acquisition; no two ever have the same. */
  readonly id: string
  /** Null in the locks of 0.1.0, which knew one place only. */
  readonly place: ProcessPlace | null
}

/** A holder whose place is known. */
export interface LocatedHolder extends LockHolder {
  readonly place: ProcessPlace
}

/** This process, and where it runs. */
export function thisHolder(id: string): LocatedHolder {
  const place = {
    host: hostname(),
    boot: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    namespace: textOf(() => readlinkSync('/proc/self/ns/pid')),
  }
  return { ...thisProcess(), id, place }
}

/** Whether the holder's process number means the same process here. Linux without the names of boot and namespace cannot tell. */
export function isHere({ place }: LockHolder, here: ProcessPlace): boolean {
  if (place === null) return true
  const isNamed = process.platform !== 'linux' || (place.boot !== null && place.namespace !== null)
  const isSame = place.host === here.host && place.boot === here.boot && place.namespace === here.namespace
  return isNamed && isSame
}

/** Digits of the heartbeat. It comes first, so that writing it never moves anything else. */
export const BEAT_DIGITS = 20
/** What every lock begins with. */
export const LOCK_START = '{"beat":"'
/** Byte at which the digits begin. */
export const BEAT_AT = LOCK_START.length

/** The heartbeat of a moment: it differs from that of any other. */
export function beatAt(ms: number): string {
  return String(Math.round(ms * 1_000)).padStart(BEAT_DIGITS, '0')
}

/** The content of a lock. */
export function lockText({ id, pid, started, place }: LockHolder, beat: string): string {
  return `${JSON.stringify({ beat, id, pid, started, ...place })}\n`
}

/** The holder in the content of a lock; undefined when it is not a complete lock. */
export function holderIn(text: string): LockHolder | undefined {
  const raw = parsed(text)
  if (!isObject(raw) || !Number.isSafeInteger(raw.pid) || typeof raw.id !== 'string') return undefined
  if (!/^[\w-]+$/.test(raw.id)) return undefined
  const [host, boot, namespace] = [textIn(raw.host), textIn(raw.boot), textIn(raw.namespace)]
  return {
    pid: Number(raw.pid),
    started: textIn(raw.started),
    id: raw.id,
    place: host === null ? null : { host, boot, namespace },
  }
}

/** A holder in words. */
export function describeHolder(holder: LockHolder | undefined, here: ProcessPlace): string {
  if (holder === undefined) return 'an unknown process, which has not written all of it'
  const { pid, place } = holder
  if (place === null || isHere(holder, here)) return `process ${pid}`
  const isSameHost = place.host === here.host
  return `process ${pid} on host "${place.host}"${isSameHost ? ' (in another container, or before a restart of the host)' : ''}`
}

/** What is known of the holder of a lock after one more look at it. */
export type HolderState = 'alive' | 'dead' | 'unknown'

/** Tells whether the holder of one lock is alive: by its process, or in another place by its heartbeat, which changes the content. */
export class Observation {
  readonly #here: ProcessPlace
  readonly #isRunning: (process: ProcessIdentity) => boolean
  #text: string | undefined
  #since = 0

  constructor(here: ProcessPlace, runs: (process: ProcessIdentity) => boolean = isRunning) {
    this.#here = here
    this.#isRunning = runs
  }

  /**
   * @param text the present content of the lock
   * @param before monotonic milliseconds before it was read
   * @param after the same, after it was read
   */
  look(text: string, before: number, after: number): HolderState {
    const holder = holderIn(text)
    if (holder !== undefined && isHere(holder, this.#here)) return this.#isRunning(holder) ? 'alive' : 'dead'
    if (this.#text !== undefined && this.#text !== text) return 'alive'
    if (this.#text === undefined) this.#since = after
    this.#text = text
    return before - this.#since >= SILENCE ? 'dead' : 'unknown'
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function textOf(read: () => string): string | null {
  try {
    return read().trim()
  } catch {
    return null
  }
}

/** One process. A later one with the same number has another start. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in clock ticks since the machine did; null where the system does not say. */
  readonly started: string | null
}

/** This process. */
function thisProcess(): ProcessIdentity {
  return { pid: process.pid, started: statusOf(process.pid)?.started ?? null }
}

/**
 * Whether a process still runs; no process has a number below 1. One that has ended and whose parent has not yet asked for its status does not. Where the
 * system does not tell start times, any process with the number counts.
 */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  if (pid < 1 || !signalReaches(pid)) return false
  const status = statusOf(pid)
  if (status === undefined) return true
  if (status.state === 'Z' || status.state === 'X') return false
  return started === null || status.started === started
}

function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Refused, by a process of another user, which is there all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

// Fields 3 and 22 of /proc/<pid>/stat. The name before them is in parentheses and may contain anything.
function statusOf(pid: number): { readonly state: string; readonly started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', started: fields[19] ?? '' }
  } catch {
    return undefined
  }
}
