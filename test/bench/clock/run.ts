import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { counted } from '../../../src/core/words.ts'
import { median } from '../servers.ts'

/**
 * `npm run bench:clock`: real milliseconds of tests with one clock for client and sandbox, each in a fresh process, with the
 * Node that runs this. Machines differ, so nothing is asserted. An argument is the number of runs; default 20.
 */
const RUNS = Number(process.argv[2] ?? 20)
const CASES = [
  'got waits for an hour of Retry-After',
  'an interval polls for an hour',
  'a client polls a batch of 24 hours',
  'a React component has a time-out of 30 seconds',
]

/** Runs a case once. @returns the milliseconds of its body, and from the start of its client */
function once(name: string): [body: number, client: number] {
  const config = join(import.meta.dirname, 'vitest.config.ts')
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, '-t', name]
  const printed = execFileSync(process.execPath, args, { encoding: 'utf8' })
  const [, body, client] = /FIGURES (\S+) (\S+)/.exec(printed) ?? []
  return [Number(body), Number(client)]
}

function spread(figures: readonly number[]): string {
  const [least, most] = [Math.min(...figures), Math.max(...figures)].map((ms) => ms.toFixed(0))
  return `${median(figures).toFixed(0)} ms (${least} to ${most})`
}

console.log(`Node ${process.version}, ${counted(RUNS, 'run')}`)
for (const name of CASES) {
  const figures = Array.from({ length: RUNS }, () => once(name))
  const [body, client] = [figures.map(([each]) => each), figures.map(([, each]) => each)]
  console.log(`${name.padEnd(48)} ${spread(client)}; with its preparation ${spread(body)}`)
}
