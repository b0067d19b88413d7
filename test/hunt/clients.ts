import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { HuntReport } from '../../src/tools/hunt/hunt.ts'
import { cases } from '../gallery/further/cases.ts'

// What a search finds without being told: npm run hunt:clients [-- BUDGET [CLIENT...]]. Some minutes for each client.

const [budget = '5m', ...named] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'workspace-hunt-'))
const outfile = join(folder, 'suite.mjs')
await build({ entryPoints: ['test/hunt/suite.ts'], bundle: true, platform: 'node', format: 'esm', outfile })

/** Hunts with the tests of one client. The clock stands still, so that no wait takes real time. */
function hunt(name: string): HuntReport {
  const flags = `--rate 0 --clock 2026-03-01T12:00:00Z --settings test/hunt/settings.json --json --budget ${budget}`
  const args = ['dist/cli.js', 'hunt', ...flags.split(' '), '--', process.execPath, outfile, name]
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const { stdout, stderr } = spawnSync(process.execPath, args, options)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as HuntReport
}

const clients = named.length > 0 ? named : [...cases.map(({ name }) => name), 'correct']
for (const name of clients) {
  const { runs, ms, passed, not_run, findings, without_faults } = hunt(name)
  console.log(
    `${name}: ${runs} runs in ${Math.round(ms / 1000)} s, ${passed} passed, ${not_run} were not run`,
  )
  for (const { severity, code } of without_faults.conduct)
    console.log(`  without faults: ${severity} ${code}`)
  for (const { kind, name: fault, message, conduct, also } of findings)
    console.log(`  ${kind}: ${fault} (+${also.length}) ${conduct.join(', ')} ${message.slice(0, 100)}`)
}
rmSync(folder, { recursive: true })
