import { Lock, type realPorts } from '../../src/adapters/storage/lock.ts'
import type { StorageNotice } from '../../src/adapters/storage/notice.ts'
import { thisProcess } from '../../src/adapters/storage/process-identity.ts'
import { dataFolder } from './data-folder.ts'
import { Killed } from './mortal-files.ts'

/** Clocks and timers that move only when the test moves them. */
export const world = {
  elapsed: 1_000_000,
  wall: Date.now(),
  timers: [] as { host: string; due: number; every: number | undefined; run: () => void }[],
}

/** A process on a host, as its lock sees it. The host `here` is the real one. */
export function portsOn(host: string): typeof realPorts {
  const plan = (ms: number, every: number | undefined, run: () => void) => {
    const timer = { host, due: world.elapsed + ms, every, run }
    world.timers.push(timer)
    return () => {
      world.timers = world.timers.filter((each) => each !== timer)
    }
  }
  const at = host === 'here' ? thisProcess().host : `${host} boot namespace`
  return {
    thisProcess: () => ({ pid: process.pid, host: at }),
    elapsedTime: () => world.elapsed,
    hostTime: () => world.wall,
    later: (ms, run) => plan(ms, undefined, run),
    repeatEvery: (ms, run) => plan(ms, ms, run),
  }
}

export { dataFolder }

/** Moves the clocks, and runs the timers of all hosts but those that are stopped. */
export async function pass(ms: number, ...stopped: string[]): Promise<void> {
  for (let gone = 0; gone < ms; gone += 250) {
    world.elapsed += 250
    world.wall += 250
    runTimers(...stopped)
    await new Promise((next) => setImmediate(next))
  }
}

export function runTimers(...stopped: string[]): void {
  for (const timer of world.timers.filter(({ due }) => due <= world.elapsed)) {
    if (stopped.includes(timer.host) || !world.timers.includes(timer)) continue
    if (timer.every === undefined) world.timers.splice(world.timers.indexOf(timer), 1)
    else timer.due = world.elapsed + timer.every
    timer.run()
  }
}

/** A start on a host, with its result so far. */
export class Start {
  readonly host: string
  readonly notices: StorageNotice[] = []
  readonly lock: Promise<Lock>
  result: 'taken' | 'refused' | 'killed' | undefined

  constructor(data: string, host: string) {
    this.host = host
    this.lock = Lock.take(data, (notice) => this.notices.push(notice), portsOn(host))
    const end = (result: typeof this.result) => Object.assign(this, { result })
    this.lock.then(
      () => end('taken'),
      (error) => end(error instanceof Killed ? 'killed' : 'refused'),
    )
  }
}
