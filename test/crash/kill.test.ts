import { expect, test } from 'vitest'
import { killRounds } from './kill-rounds.ts'

test('R280 R233 nothing acknowledged is lost, doubled or untold when the process is killed while writing', async () => {
  const report = await killRounds(12)
  expect(report).toMatchObject({ lost: 0, doubled: 0, untold: 0, unrestorable: 0, unreadable: 0 })
  expect(report.acknowledged).toBeGreaterThan(100)
}, 60_000)
