import { type Files, nodeFiles } from '../../src/adapters/storage/files.ts'
import type { HeartbeatOptions } from '../../src/adapters/storage/heartbeat.ts'
import { Lock } from '../../src/adapters/storage/lock.ts'
import { LockIo, type LockPorts } from '../../src/adapters/storage/lock-taking.ts'
import type { StorageNotice } from '../../src/adapters/storage/notice.ts'

/** Clocks that move only when the test moves them, and the processes that use them. */
export class Machines {
  ticks = 1_000_000
  wall = Date.parse('2026-03-01T12:00:00Z')
  readonly #timers: { readonly due: number; readonly run: () => void }[] = []
  #made = 0

  /** A process in a separate namespace: a container or a host. */
  process(namespace: string, pid = 1, files: Files = nodeFiles): FakeProcess {
    this.#made += 1
    return new FakeProcess(this, { namespace, pid, id: `${namespace}-${this.#made}`, files })
  }

  later(ms: number, run: () => void): () => void {
    const timer = { due: this.ticks + ms, run }
    this.#timers.push(timer)
    return () => {
      if (this.#timers.includes(timer)) this.#timers.splice(this.#timers.indexOf(timer), 1)
    }
  }

  /** Moves the clocks in steps of 250 ms, and runs the timers that are due. */
  async pass(ms: number): Promise<void> {
    for (let gone = 0; gone < ms; gone += 250) {
      this.ticks += 250
      this.wall += 250
      for (const timer of this.#timers.filter(({ due }) => due <= this.ticks)) {
        this.#timers.splice(this.#timers.indexOf(timer), 1)
        timer.run()
      }
      await new Promise((next) => setImmediate(next))
    }
  }
}

/** The parts of a process that its lock needs. */
export class FakeProcess {
  readonly ports: LockPorts
  readonly notices: StorageNotice[] = []
  /** Whether processes of the same namespace see it as running. */
  isRunning = true
  #heartbeat: HeartbeatOptions | undefined

  constructor(
    machines: Machines,
    {
      namespace,
      pid,
      id,
      files,
    }: { readonly namespace: string; readonly pid: number; readonly id: string; readonly files: Files },
  ) {
    this.ports = {
      files,
      self: { pid, started: '1', id, place: { host: 'host', boot: 'boot', namespace } },
      isRunning: () => this.isRunning,
      ticks: () => machines.ticks,
      hostTime: () => machines.wall,
      later: (ms, run) => machines.later(ms, run),
      startHeartbeat: (options) => {
        this.#heartbeat = options
        return async () => {
          this.#heartbeat = undefined
        }
      },
    }
  }

  /** Acquires the lock of a folder. */
  take(folder: string): Promise<Lock> {
    return Lock.take(folder, (notice) => this.notices.push(notice), this.ports)
  }

  /** Runs one heartbeat, if the process has a heartbeat. */
  beat(): void {
    if (this.#heartbeat === undefined) return
    const { path, beats, onTaken } = this.#heartbeat
    const now = { ticks: this.ports.ticks(), wall: this.ports.hostTime() }
    const io = new LockIo(this.ports.files, this.ports.self)
    if (io.beat(path, now.ticks)) beats.beaten(now)
    else if (io.read(path) === undefined) new Float64Array(beats.memory).set([now.ticks, now.wall], 2)
    else onTaken()
  }
}
