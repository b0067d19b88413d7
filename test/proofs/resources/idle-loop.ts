import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** While an event loop did not turn: milliseconds of the monotonic clock that all processes of the machine share. */
interface Stall {
  readonly from: number
  readonly to: number
}

/** `busy`: at most the processor time that the process has used in it, so that waiting for a processor does not count. */
export interface BusyStall extends Stall {
  readonly busy: number
}

/** The event loop of a process that does nothing: what it is late by is the machine's doing. */
export interface IdleLoop extends Disposable {
  /** Ends the process. @returns milliseconds by which it was late */
  lateness(): Promise<{ readonly p99: number; readonly longest: number }>
  /** Ends nothing. @returns the longest of these stalls, without what the idle process stood still in it, too */
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
  process.on('message', (message) => {
    if (message === 'so far') return process.send(message)
    all.sort((a, b) => a - b)
    process.send({ p99: all[Math.floor(all.length * 0.99)] ?? 0, longest: all.at(-1) ?? 0 })
    process.disconnect()
    process.exit()
  })`

export function idleLoop(): IdleLoop {
  const child = spawn(process.execPath, ['--eval', SCRIPT], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const machine: Stall[] = []
  child.on('message', (message) => {
    if (typeof message === 'object' && 'from' in message) machine.push(message as Stall)
  })
  const answer = async (is: (message: unknown) => boolean): Promise<unknown> => {
    for (;;) {
      const [message] = await once(child, 'message')
      if (is(message)) return message
    }
  }
  const ask = (question: string, is: (message: unknown) => boolean): Promise<unknown> => {
    const answered = answer(is)
    child.send(question)
    return answered
  }
  return {
    lateness: async () => {
      const late = await ask(
        'end',
        (message) => typeof message === 'object' && !('from' in (message as object)),
      )
      return late as { p99: number; longest: number }
    },
    longestOwn: async (stalls) => {
      // What it has told by then is what it has seen.
      await ask('so far', (message) => message === 'so far')
      return Math.max(0, ...stalls.map((stall) => ownPart(stall, machine)))
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

function ownPart({ from, to, busy }: BusyStall, machine: readonly Stall[]): number {
  const shared = machine.map((other) => Math.max(0, Math.min(to, other.to) - Math.max(from, other.from)))
  return Math.min(busy, to - from - shared.reduce((sum, each) => sum + each, 0))
}
