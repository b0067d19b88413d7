import { parseArgs } from 'node:util'
import { killRounds } from './kill-rounds.ts'

// `npm run test:kill`: kills the emulator many times during writes, and counts lost data.
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
})
const report = await killRounds(Number(values.rounds), Number(values.seed))
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
const { rounds, acknowledged, ...broken } = report
process.exitCode = Object.values(broken).every((count) => count === 0) ? 0 : 1
