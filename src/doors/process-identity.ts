import { readFileSync } from 'node:fs'

/** One process, told apart from a later one that was given the same number. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in clock ticks since the machine did; null where the system does not say. */
  readonly started: string | null
}

/** This process. */
export function thisProcess(): ProcessIdentity {
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

// Fields 3 and 22 of /proc/<pid>/stat. The name before them stands in parentheses and may contain anything.
function statusOf(pid: number): { readonly state: string; readonly started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', started: fields[19] ?? '' }
  } catch {
    return undefined
  }
}
