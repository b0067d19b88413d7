import { startEmulator } from 'agent-workspace-emulator'
import { plannedRuns, runCorrectly, WebhookReceiver } from './correct-run.ts'
import { START } from './situation.ts'

// `npm run gallery:runs [-- COUNT]`: the correct client in every situation, with other seeds in each run. It prints every
// finding, and ends with 1 if one of them is an error or a warning.

const count = Number(process.argv[2] ?? 1000)
/** Runs at the same time: most of them wait for a slow response. */
const WORKERS = 16

const silent = { info: () => {}, warn: () => {}, error: (message: string) => console.error(message) }
const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, clock: START, logger: silent })
const receiver = await WebhookReceiver.open()
const presets = (await emulator.defaultSandbox.faults.presets()).map(({ name }) => name)
const runs = plannedRuns(presets, count)
const tally = new Map<string, number>()
const began = performance.now()
let [next, bad] = [0, 0]

await Promise.all(
  Array.from({ length: WORKERS }, async () => {
    for (let run = runs[next++]; run !== undefined; run = runs[next++]) {
      for (const { code, severity, message } of await runCorrectly(emulator, receiver, run)) {
        tally.set(`${severity} ${code}`, (tally.get(`${severity} ${code}`) ?? 0) + 1)
        if (severity === 'note') continue
        bad++
        console.log(`seed ${run.seed}, ${run.preset ?? 'no fault'}: ${severity} ${code}: ${message}`)
      }
    }
  }),
)

const seconds = ((performance.now() - began) / 1000).toFixed(1)
const least = Math.floor(count / (presets.length + 1))
console.log(
  `${count} runs in ${seconds} s: ${presets.length} presets, each at least ${least} times; ${receiver.handled} webhooks.`,
)
for (const [name, times] of [...tally].sort()) console.log(`${times} x ${name}`)
console.log(bad === 0 ? 'No errors and no warnings.' : `${bad} errors and warnings.`)
await receiver[Symbol.asyncDispose]()
await emulator.close()
process.exitCode = bad === 0 ? 0 : 1
