import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

// Preloaded into the process of the emulator, so that a proof can measure it without support in the product. On SIGUSR2 it
// collects garbage and writes the memory in use to the file PROBE_FILE.

const MEGABYTE = 1_048_576

// Threads of the emulator inherit the flag and must not start a probe.
if (isMainThread && process.env.PROBE_FILE !== undefined) watch(process.env.PROBE_FILE)

function watch(file) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  let reports = 0
  process.on('SIGUSR2', () => {
    collect()
    // Some objects are freed only by the second collection.
    setImmediate(() => {
      collect()
      report()
    })
  })

  function report() {
    reports += 1
    const { rss, heapUsed, external } = process.memoryUsage()
    const memory = { rss: rss / MEGABYTE, live: (heapUsed + external) / MEGABYTE }
    const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    writeFileSync(`${file}.part`, JSON.stringify({ reports, memory, timers }))
    renameSync(`${file}.part`, file)
  }
}
