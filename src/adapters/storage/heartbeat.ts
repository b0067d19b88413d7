import { Worker } from 'node:worker_threads'
import { BEAT_AT, BEAT_DIGITS } from '../lock-file.ts'

/** Milliseconds between two heartbeats. */
const EVERY = 1_000

/** A moment in milliseconds of two clocks: the monotonic one, which may stop while the machine sleeps, and the host's clock. */
export interface Moment {
  readonly ticks: number
  readonly wall: number
}

/** The moments at which the lock was last ours. The memory is shared with the thread. */
export class Beats {
  readonly memory = new SharedArrayBuffer(32)
  readonly #times = new Float64Array(this.memory)

  /** The last heartbeat that was written and then found by reading the lock again. */
  get last(): Moment {
    return this.#moment(0)
  }

  /** The last read of the lock at which it was ours or missing. */
  get lastLook(): Moment {
    return this.#moment(2)
  }

  beaten({ ticks, wall }: Moment): void {
    this.#times.set([ticks, wall, ticks, wall])
  }

  #moment(at: 0 | 2): Moment {
    return { ticks: this.#times[at] ?? 0, wall: this.#times[at + 1] ?? 0 }
  }
}

export interface HeartbeatOptions {
  /** The path of the lock. */
  readonly path: string
  /** The id of our acquisition. The lock contains it as long as it is ours. */
  readonly id: string
  readonly beats: Beats
  /** Called when the lock names another holder. */
  readonly onTaken: () => void
  /** Called when the thread has ended without being stopped. */
  readonly onEnd: (reason: string) => void
}

/** Starts to write heartbeats. @returns a function that stops; resolves when the thread has ended */
export type StartHeartbeat = (options: HeartbeatOptions) => () => Promise<void>

/**
 * The code of the thread: the same as `LockIo.beat`, without its file port. It is text, because a worker of Node 20 cannot
 * load TypeScript and this one needs nothing from the bundle. O_NONBLOCK: a FIFO in place of the lock must not block it.
 */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
const fs = require('node:fs')
const { path, id, memory, every, beatAt, digits } = workerData
const times = new Float64Array(memory)
const sleep = new Int32Array(new SharedArrayBuffer(4))
const { O_RDWR, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = fs.constants

function isOurs(beat) {
  const file = fs.openSync(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW)
  try {
    if (JSON.parse(fs.readFileSync(file, 'utf8')).id !== id) return false
    if (beat !== undefined) fs.writeSync(file, beat, beatAt)
    return true
  } finally {
    fs.closeSync(file)
  }
}

for (;;) {
  Atomics.wait(sleep, 0, 0, every)
  const ticks = Number(process.hrtime.bigint()) / 1e6
  const now = [ticks, Date.now()]
  try {
    const beat = String(Math.round(ticks * 1000)).padStart(digits, '0')
    if (isOurs(beat) && isOurs()) times.set([...now, ...now])
    else parentPort.postMessage('taken')
  } catch (error) {
    if (error.code === 'ENOENT') times.set(now, 2)
  }
}
`

/** Writes the heartbeat in a thread, which also runs while the event loop is busy. It does not keep the process alive. */
export const startHeartbeat: StartHeartbeat = ({ path, id, beats, onTaken, onEnd }) => {
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { path, id, memory: beats.memory, every: EVERY, beatAt: BEAT_AT, digits: BEAT_DIGITS },
    // Modules that were preloaded into this process, such as loaders, are not loaded into the thread.
    execArgv: [],
    env: {},
  })
  let stopped = false
  let reason = 'it exited'
  worker.on('message', onTaken)
  worker.on('error', (error) => {
    reason = String(error)
  })
  worker.on('exit', () => {
    if (!stopped) onEnd(reason)
  })
  // Must come last: adding a listener for messages keeps the process alive again.
  worker.unref()
  return async () => {
    stopped = true
    await worker.terminate()
  }
}
