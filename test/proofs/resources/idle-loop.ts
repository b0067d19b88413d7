import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** By how much the event loop of a process was late, in milliseconds. */
export interface Lateness {
  readonly p99: number
  readonly longest: number
}

/** Watches the event loop of a process that does nothing: what it is late by is the machine's doing. */
export function idleLoop(): Disposable & { readonly lateness: () => Promise<Lateness> } {
  const script = `const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - 10)
    const lateness = () => ({ p99: late(delay.percentile(99)), longest: late(delay.max) })
    process.stdin.on('end', () => console.log(JSON.stringify(lateness()))).resume()`
  const child = spawn(process.execPath, ['--eval', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lateness = async () => {
    child.stdin.end()
    return JSON.parse(await text(child.stdout)) as Lateness
  }
  return { lateness, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}
