import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Settings } from '../../src/core/assumptions.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { aBatch, aPage, startEmulator } from '../../src/index.ts'
import { judge } from '../../src/tools/drift/blame.ts'
import { readRecording } from '../../src/tools/drift/recording.ts'

// Measures how long drift takes for a recording of 20 exchanges, once the emulator has started: node --import tsx test/bench/drift.ts

const ROUNDS = 20
const folder = mkdtempSync(join(tmpdir(), 'drift-bench-'))
try {
  const file = join(folder, 'traffic.har')
  writeFileSync(file, JSON.stringify(await recording()))
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) times.push(await timeOf(file))
  const [first = 0] = times
  times.sort((a, b) => a - b)
  const median = times[ROUNDS / 2]?.toFixed(0)
  console.log(`20 exchanges: median ${median} ms, the first one ${first.toFixed(0)} ms`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Pages, lists and a batch. */
async function recording(): Promise<unknown> {
  await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  const { defaultSandbox: sandbox } = emulator
  const created = await sandbox.fetch('/batch-predictions', { json: aBatch() })
  const { id } = (await created.json()) as { id: string }
  for (let n = 0; n < 4; n++) {
    await sandbox.fetch('/pages', { json: aPage({ name: `Page ${n}` }) })
    await sandbox.fetch('/data-views')
    await sandbox.fetch('/organization/teamspaces/teamspace-harbor/users?limit=10')
    await sandbox.clock.advance('10s')
    await sandbox.fetch(`/batch-predictions/${id}`)
  }
  const others = ['/organization/mcp-servers', '/data-views?offset=1']
  for (const path of [`/batch-predictions/${id}/results`, ...others]) await sandbox.fetch(path)
  return (await fetch(`${emulator.url}/__emulator/requests/har`)).json()
}

/** Milliseconds from the file to the judgement. */
async function timeOf(file: string): Promise<number> {
  const options = { listen: false, ephemeral: true, rate: 0, limits: false, fixtures: 'empty', endpoints: [] }
  const emulator = await openEmulator(options)
  const begun = performance.now()
  const { differences } = await judge([readRecording(file, undefined)], new Settings({}), emulator)
  const ms = performance.now() - begun
  await emulator.close()
  if (differences.some(({ blame }) => blame !== 'value')) throw new Error('The recording has a difference.')
  return ms
}
