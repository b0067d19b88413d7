import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { comesTrue, type Stage, type Started } from '../stage.ts'
import type { BusyStall } from './idle-loop.ts'

/** The resources of a process. Times in milliseconds, memory in MiB. */
export interface Look {
  readonly reports: number
  /** The lateness of the event loop since the last measurement, over this many turns. */
  readonly loop: {
    readonly p99: number
    readonly longest: number
    readonly turns: number
    readonly stalls: readonly BusyStall[]
  }
  /** `live`: the memory after a garbage collection. */
  readonly memory: { readonly rss: number; readonly live: number }
  readonly timers: number
}

/** A running emulator whose resources can be measured. */
export interface Probed {
  readonly started: Started
  readonly port: number
  look(): Promise<Look>
  /** The lateness since the last measurement, without a garbage collection, which would slow down code. */
  lateness(): Promise<Look['loop']>
  /** The number of open files, sockets and pipes. */
  handles(): number
  /** Resident memory now and its maximum so far, in MiB. */
  resident(): { readonly now: number; readonly most: number }
}

/** Starts the built emulator with {@link Look}s; the stage ends it. */
export async function startProbed(stage: Stage, flags: readonly string[] = []): Promise<Probed> {
  const file = join(stage.folder, 'probe.json')
  const started = stage.start({
    flags,
    preload: join(import.meta.dirname, 'probe.mjs'),
    environment: { PROBE_FILE: file },
  })
  const port = await started.port
  const pid = String(started.child.pid)
  let reports = 0
  const read = (): Look | undefined =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Look) : undefined
  const report = async (signal: NodeJS.Signals): Promise<Look> => {
    reports += 1
    started.signal(signal)
    if (!(await comesTrue(() => read()?.reports === reports))) throw new Error('the process gives no report')
    return read() as Look // waited for above
  }
  return {
    started,
    port,
    handles: () => readdirSync(`/proc/${pid}/fd`).length,
    resident: () => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
      return { now: of('VmRSS'), most: of('VmHWM') }
    },
    look: () => report('SIGUSR2'),
    lateness: async () => (await report('SIGWINCH')).loop,
  }
}
