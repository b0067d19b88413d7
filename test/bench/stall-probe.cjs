// Preloaded by stalls.ts: tells at the end how long the event loop of this process was kept at most, in milliseconds.
const { monitorEventLoopDelay } = require('node:perf_hooks')
const { writeFileSync } = require('node:fs')

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
// What comes before is the start.
process.on('SIGUSR2', () => delay.reset())
process.on('exit', () => {
  const ms = (nanoseconds) => nanoseconds / 1e6
  writeFileSync(
    process.env.STALL_FILE,
    JSON.stringify({ max: ms(delay.max), p99: ms(delay.percentile(99)), p999: ms(delay.percentile(99.9)) }),
  )
})
