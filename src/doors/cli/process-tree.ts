import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process. Its number alone may belong to another one later. */
export interface ProcessId {
  readonly pid: number
  /** As the system writes it; only good for a comparison. */
  readonly startedAt: string
}

interface Entry extends ProcessId {
  readonly parent: number
  /** It is over, and only waits for its parent to ask how it ended. */
  readonly isOver: boolean
}

/** All that a process has started, and all that those have started. Empty where the system does not tell: on Windows. */
export function descendantsOf(pid: number): ProcessId[] {
  const entries = processes()
  const found: Entry[] = []
  const parents = new Set([pid])
  for (let more = true; more; ) {
    const next = entries.filter((entry) => parents.has(entry.parent) && !parents.has(entry.pid))
    for (const entry of next) parents.add(entry.pid)
    found.push(...next)
    more = next.length > 0
  }
  return found.filter(({ isOver }) => !isOver).map(({ pid, startedAt }) => ({ pid, startedAt }))
}

/** Those of some processes that still run. */
export function stillRunning(family: readonly ProcessId[]): readonly ProcessId[] {
  if (family.length === 0) return family
  const running = new Map(processes().map((entry) => [entry.pid, entry]))
  return family.filter(({ pid, startedAt }) => {
    const entry = running.get(pid)
    return entry !== undefined && !entry.isOver && entry.startedAt === startedAt
  })
}

/** Sends a signal to a process that may be gone by now, or be another user's: then nothing happens. */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {}
}

function processes(): Entry[] {
  if (process.platform === 'win32') return []
  return process.platform === 'linux' ? fromProc() : fromPs()
}

// Small images have no ps.
function fromProc(): Entry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      // The name of the program stands in parentheses and may hold any character, so that the last one closes it.
      const [state = '', parent = '', ...others] = statOf(name)
        .replace(/^.*\)\s+/s, '')
        .split(' ')
      const startedAt = others[17]
      return startedAt === undefined
        ? []
        : [{ pid: Number(name), parent: Number(parent), startedAt, isOver: 'ZX'.includes(state) }]
    })
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

function fromPs(): Entry[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart='], { encoding: 'utf8' })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [, pid, parent, state = '', startedAt = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), startedAt, isOver: state.startsWith('Z') }]
  })
}
