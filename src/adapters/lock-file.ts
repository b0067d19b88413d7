import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { isObject } from '../core/json.ts'
/** Name of the lock in a data folder. */
export const LOCK = 'lock'

/** A holder in another place counts as dead when its lock has not changed for this many milliseconds. */
export const SILENCE = 5_000

/** Monotonic milliseconds, the same in all threads. The clock may stop while the machine sleeps. */
export function ticks(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Milliseconds between two reads of the lock of a holder in another place. */
export const LOOK_AGAIN = 250

/** Where a process runs. Its pid is only meaningful to processes in the same place. */
export interface ProcessPlace {
  readonly host: string
  /** The boot id of Linux, different after each start of the machine; `null` if there is none. */
  readonly boot: string | null
  /** The pid namespace: each container has its own. `null` if there is none. */
  readonly namespace: string | null
}

/** The holder of a lock. */
export interface LockHolder extends ProcessIdentity {
  /** Unique for each acquisition of a lock. */
  readonly id: string
  /** `null` in locks of version 0.1.0, which did not record the place. */
  readonly place: ProcessPlace | null
}

/** A holder whose place is known. */
export interface LocatedHolder extends LockHolder {
  readonly place: ProcessPlace
}

/** This process and its place, as the holder of a lock. */
export function thisHolder(id: string): LocatedHolder {
  const place = {
    host: hostname(),
    boot: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    namespace: textOf(() => readlinkSync('/proc/self/ns/pid')),
  }
  return { ...thisProcess(), id, place }
}

/** Whether the holder's pid means the same process here. False on Linux without boot id or pid namespace: it is unknown there. */
export function isHere({ place }: LockHolder, here: ProcessPlace): boolean {
  if (place === null) return true
  const isNamed = process.platform !== 'linux' || (place.boot !== null && place.namespace !== null)
  const isSame = place.host === here.host && place.boot === here.boot && place.namespace === here.namespace
  return isNamed && isSame
}

/** Number of digits of the heartbeat. It is fixed, so that writing a heartbeat changes no other byte. */
export const BEAT_DIGITS = 20
/** The first bytes of every lock. */
export const LOCK_START = '{"beat":"'
/** Offset of the first digit, in bytes. */
export const BEAT_AT = LOCK_START.length

/** The heartbeat for a moment in milliseconds, with microsecond precision, so that each one is different. */
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

/** Describes a holder for messages. */
export function describeHolder(holder: LockHolder | undefined, here: ProcessPlace): string {
  if (holder === undefined) return 'an unknown process (the lock is incomplete)'
  const { pid, place } = holder
  if (place === null || isHere(holder, here)) return `process ${pid}`
  const isSameHost = place.host === here.host
  return `process ${pid} on host "${place.host}"${isSameHost ? ' (in another container, or before a restart of the host)' : ''}`
}

/** The state of the holder of a lock after one more read of the lock. */
export type HolderState = 'alive' | 'dead' | 'unknown'

/**
 * Decides whether the holder of one lock is alive. In the same place its process is checked. In another place the heartbeat
 * is checked, which changes the content of the lock.
 */
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
   * @param text the current content of the lock
   * @param before monotonic milliseconds before it was read
   * @param after monotonic milliseconds after it was read
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

/** Identifies one process. A later process with the same pid has another start time. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time, in clock ticks since the machine booted; `null` if the system does not report it. */
  readonly started: string | null
}

/** The identity of this process. `started` is null on systems without `/proc`. */
function thisProcess(): ProcessIdentity {
  return { pid: process.pid, started: statusOf(process.pid)?.started ?? null }
}

/**
 * Whether a process still runs. A zombie, which has ended but whose parent has not read its status, does not. No process has
 * a pid below 1. If the system reports no start times, any process with the pid counts.
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
    // The process exists, but belongs to another user.
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
