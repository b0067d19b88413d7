import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { comesTrue, type Stage, type Started } from '../stage.ts'

export interface Look {
  readonly reports: number
  /** `live`: the memory after a garbage collection. */
  readonly memory: { readonly rss: number; readonly live: number }
  readonly timers: number
}

export interface Probed {
  readonly started: Started
  readonly port: number
  look(): Promise<Look>
  handles(): number
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
  const look = async (): Promise<Look> => {
    reports += 1
    started.signal('SIGUSR2')
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
    look,
  }
}
