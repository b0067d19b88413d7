import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

// Preloaded into the process of the emulator, so that a proof can measure it without support in the product. On SIGUSR2 it
// collects garbage and writes the memory in use to the file PROBE_FILE; on SIGWINCH it does not collect, because a forced
// collection slows down code for some time.

/** Milliseconds between two checks of the event loop. */
const RESOLUTION = 10
const MEGABYTE = 1_048_576

// Threads of the emulator inherit the flag and must not start a probe.
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
    // Some objects are freed only by the second collection.
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
    // The cost of the measurement itself does not count.
    delay.reset()
    stalls.take()
  }
}

// If other processes use the processor, the loop is late without its own fault: `busy` is at most the processor time that
// this process has used during the stall.
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
