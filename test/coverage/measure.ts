import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CoveredPoint,
  coverageOf,
  mergedPoints,
  percentOf,
} from '../../src/server/control/coverage/report.ts'

// Measures which points of the contract the tests of the specification meet: npx tsx test/coverage/measure.ts [files...]

const folder = mkdtempSync(join(tmpdir(), 'contract-coverage-'))
try {
  const files = process.argv.length > 2 ? process.argv.slice(2) : ['test/spec']
  const env = { ...process.env, TEST_COVERAGE: folder }
  spawnSync('npx', ['vitest', 'run', '--exclude', '**/*.slow.test.ts', ...files], { env, stdio: 'inherit' })
  let points: readonly CoveredPoint[] = []
  for (const file of readdirSync(folder))
    points = mergedPoints(JSON.parse(readFileSync(join(folder, file), 'utf8')), points)
  const report = coverageOf(points)
  for (const { id, how, met } of points) if (met === null) console.log(`not met: ${id}  ${how}`)
  for (const { id, met } of points) if (met === 'fault') console.log(`only with a fault: ${id}`)
  console.log(
    `${report.met} of ${report.total} points (${percentOf(report)} %), ${report.met_by_faults} only with faults`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
