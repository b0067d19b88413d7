import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

// Runs before the emulator in its process, so that a proof can look inside without a word of the product about it: at
// SIGUSR2 it collects garbage and writes what is in use into the file that PROBE_FILE names; at SIGWINCH it collects
// nothing, since the code and the heap are cold for some time after a forced collection.

/** Milliseconds between two looks at the event loop. */
const RESOLUTION = 10
const MEGABYTE = 1_048_576

// Threads of the emulator are started with the same flags.
if (isMainThread && process.env.PROBE_FILE !== undefined) watch(process.env.PROBE_FILE)

function watch(file) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
  delay.enable()
  const stalls = stallsOf()
  let reports = 0
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION)
  const lateness = () => ({
    p99: late(delay.percentile(99)),
    longest: late(delay.max),
    turns: delay.count,
    stalls: stalls.take(),
  })
  process.on('SIGWINCH', () => report(lateness()))
  process.on('SIGUSR2', () => {
    const loop = lateness()
    collect()
    // What has been let go of by the first is only gone with the second.
    setImmediate(() => {
      collect()
      report(loop)
    })
  })

  function report(loop) {
    reports += 1
    const { rss, heapUsed, external } = process.memoryUsage()
    const memory = { rss: rss / MEGABYTE, live: (heapUsed + external) / MEGABYTE }
    const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    writeFileSync(`${file}.part`, JSON.stringify({ reports, loop, memory, timers }))
    renameSync(`${file}.part`, file)
    // What the look itself has cost is not the emulator's.
    delay.reset()
    stalls.take()
  }
}

// Where the machine gives the processor to others, the loop is late without having done anything: `busy` is at most the
// processor time that the process has used meanwhile.
function stallsOf() {
  const now = () => Number(process.hrtime.bigint()) / 1e6
  let stalls = []
  let last = { at: now(), used: process.cpuUsage() }
  const look = () => {
    const { user, system } = process.cpuUsage(last.used)
    const [from, to] = [last.at + RESOLUTION, now()]
    if (to - from > 2) stalls.push({ from, to, busy: Math.min(to - from, (user + system) / 1000) })
    last = { at: now(), used: process.cpuUsage() }
  }
  setInterval(look, RESOLUTION).unref()
  return {
    take() {
      const taken = stalls
      stalls = []
      last = { at: now(), used: process.cpuUsage() }
      return taken
    },
  }
}
