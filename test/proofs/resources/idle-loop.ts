import { spawn } from 'node:child_process'

/** A period in which an event loop did not run, in milliseconds of the monotonic clock that all processes share. */
interface Stall {
  readonly from: number
  readonly to: number
}

/** `busy`: at most the processor time that the process used in it, so that waiting for a processor does not count. */
export interface BusyStall extends Stall {
  readonly busy: number
}

/** Milliseconds by which an event loop was late. */
interface Lateness {
  readonly p99: number
  readonly longest: number
}

/** The event loop of an idle process: its lateness is caused by the machine. */
export interface IdleLoop extends Disposable {
  lateness(): Promise<Lateness>
  /** Milliseconds of each stall, longest first, without the parts in which the idle process stalled, too. */
  own(stalls: readonly BusyStall[]): Promise<readonly number[]>
  longestOwn(stalls: readonly BusyStall[]): Promise<number>
}

const SCRIPT = `const now = () => Number(process.hrtime.bigint()) / 1e6
  const all = []
  let last = now()
  setInterval(() => {
    const [from, to] = [last + 10, now()]
    all.push(Math.max(0, to - from))
    if (to - from > 2) process.send({ from, to })
    last = now()
  }, 10)
  process.on('disconnect', () => process.exit())
  process.on('message', () => {
    all.sort((a, b) => a - b)
    process.send({ p99: all[Math.floor(all.length * 0.99)] ?? 0, longest: all.at(-1) ?? 0 })
  })`

export function idleLoop(): IdleLoop {
  const child = spawn(process.execPath, ['--eval', SCRIPT], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const machine: Stall[] = []
  const asked: ((late: Lateness) => void)[] = []
  child.on('message', (message: Stall | Lateness) => {
    if ('from' in message) machine.push(message)
    else asked.shift()?.(message)
  })
  const lateness = (): Promise<Lateness> =>
    new Promise((resolve) => {
      asked.push(resolve)
      child.send('How late?')
    })
  const own = async (stalls: readonly BusyStall[]): Promise<readonly number[]> => {
    // When this response arrives, all earlier messages of the child have arrived.
    await lateness()
    return stalls.map((stall) => Math.max(0, ownPart(stall, machine))).sort((a, b) => b - a)
  }
  return {
    lateness,
    own,
    longestOwn: async (stalls) => (await own(stalls))[0] ?? 0,
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

function ownPart({ from, to, busy }: BusyStall, machine: readonly Stall[]): number {
  const shared = machine.map((other) => Math.max(0, Math.min(to, other.to) - Math.max(from, other.from)))
  return Math.min(busy, to - from - shared.reduce((sum, each) => sum + each, 0))
}
