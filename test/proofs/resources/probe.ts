import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { comesTrue, type Stage, type Started } from '../stage.ts'
import type { BusyStall } from './idle-loop.ts'

/** What a process has in use. Times in milliseconds, memory in MiB. */
export interface Look {
  readonly reports: number
  /** By how much the event loop was late since the look before, in so many looks at it. */
  readonly loop: {
    readonly p99: number
    readonly longest: number
    readonly turns: number
    readonly stalls: readonly BusyStall[]
  }
  /** `live`: what a garbage collection leaves. */
  readonly memory: { readonly rss: number; readonly live: number }
  readonly timers: number
}

/** A running emulator that can be looked into. */
export interface Probed {
  readonly started: Started
  readonly port: number
  look(): Promise<Look>
  /** How late the loop was since the last of either, without a garbage collection, which leaves code and heap cold. */
  lateness(): Promise<Look['loop']>
  /** Files, sockets and pipes that are open. */
  handles(): number
  /** Resident memory now, and the most that it has been, in MiB. */
  resident(): { readonly now: number; readonly most: number }
}

/** Starts the built emulator with {@link Look}s, on a stage that ends it. */
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
