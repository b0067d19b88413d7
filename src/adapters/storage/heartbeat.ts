import { Worker } from 'node:worker_threads'
import { BEAT_AT, BEAT_DIGITS } from '../lock-file.ts'

/** Milliseconds between two heartbeats. */
const EVERY = 1_000

/** A moment by both clocks: monotonic milliseconds, which may stand still while the machine sleeps, and the host's time. */
export interface Moment {
  readonly ticks: number
  readonly wall: number
}

/** The moment at which the lock was last ours. Shared by the threads. */
export class Beats {
  readonly memory = new SharedArrayBuffer(32)
  readonly #times = new Float64Array(this.memory)

  /** The last heartbeat that was written, and found under the name of the lock after that. */
  get last(): Moment {
    return this.#moment(0)
  }

  /** The last time that the lock was read, and was ours or not there. */
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
  /** The lock. */
  readonly path: string
  /** The acquisition that it names as long as it is ours. */
  readonly id: string
  readonly beats: Beats
  /** The lock names another holder. */
  readonly onTaken: () => void
  /** The thread has ended without being stopped. */
  readonly onEnd: (reason: string) => void
}

/** Starts to write heartbeats. @returns stops; resolves when the thread has ended */
export type StartHeartbeat = (options: HeartbeatOptions) => () => Promise<void>

/**
 * What the thread does, the same as `LockIo.beat` without its file port. Code as text, because a worker of Node 20 reads no
 * TypeScript, and this one needs nothing of the bundle. O_NONBLOCK: a FIFO in place of the lock must not stop it.
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

/** Writes the heartbeat in a thread of its own, which goes on while the event loop is busy. It does not keep the process alive. */
export const startHeartbeat: StartHeartbeat = ({ path, id, beats, onTaken, onEnd }) => {
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { path, id, memory: beats.memory, every: EVERY, beatAt: BEAT_AT, digits: BEAT_DIGITS },
    // Nothing that was preloaded into this process, such as a loader, is loaded there as well.
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
  // Last: a listener of messages keeps the process alive.
  worker.unref()
  return async () => {
    stopped = true
    await worker.terminate()
  }
}
