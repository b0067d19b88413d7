import { spawn } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { proofs } from '../proofs/index.ts'
import type { Figure } from '../proofs/proof.ts'
import { type Outcome, writeResults } from './results.ts'

// Runs the long proofs, each in a separate process, so that no proof is affected by an earlier one.
//   npm run test:long              all of them
//   npm run test:long -- D8 F2     only these; the results of the others are kept

const { positionals } = parseArgs({ allowPositionals: true })
const unknown = positionals.filter((id) => !proofs.has(id))
if (unknown.length > 0) {
  console.error(`There is no proof ${unknown.join(', ')}. There are ${[...proofs.keys()].join(', ')}.`)
  process.exit(2)
}

/** Milliseconds after which a proof that has not ended is killed. */
const MAX_DURATION = 20 * 60_000

const machine = `${cpus().length} processors (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${process.platform}`
const outcomes: Outcome[] = []
for (const id of positionals.length > 0 ? positionals : proofs.keys()) {
  console.log(`\n${id}`)
  const outcome = await run(id)
  outcomes.push(outcome)
  for (const { what, value, promised, holds } of outcome.figures) {
    console.log(
      `  ${holds ? 'ok    ' : 'BROKEN'} ${what}: ${value}${promised === undefined ? '' : ` (promised ${promised})`}`,
    )
  }
  if (outcome.failure !== undefined) console.log(`  BROKEN ${outcome.failure}`)
  writeResults(machine, outcomes)
}
const broken = outcomes.filter(
  ({ figures, failure }) => failure !== undefined || figures.some(({ holds }) => !holds),
)
console.log(
  `\n${outcomes.length - broken.length} of ${outcomes.length} proofs hold. Results: test/long/RESULTS.md`,
)
process.exitCode = broken.length === 0 ? 0 : 1

function run(id: string): Promise<Outcome> {
  const begun = performance.now()
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/long/one.ts', id], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: MAX_DURATION,
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return new Promise((resolve) => {
    child.once('close', (code, signal) => {
      const seconds = Math.round((performance.now() - begun) / 1000)
      const line = said.trimEnd().split('\n').at(-1) ?? ''
      const outcome = { id, seconds, at: new Date(Date.now()).toISOString().slice(0, 10) }
      if (code === 0) resolve({ ...outcome, ...(JSON.parse(line) as { promise: string; figures: Figure[] }) })
      else
        resolve({
          ...outcome,
          promise: '',
          figures: [],
          failure: `ended by ${signal ?? `exit code ${code}`}`,
        })
    })
  })
}
