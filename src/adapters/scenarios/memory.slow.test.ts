import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { Footprint } from '../../../test/support/reloads.ts'

test('five hundred reloads leave the heap flat', () => {
  // In a separate process: that many garbage collections of a test runner take minutes.
  const args = ['--import', 'tsx', 'test/bench/reloads.ts', '500', '--json']
  const footprints: Footprint[] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  expect(footprints).toHaveLength(500)
  // A module that is not freed has 8 MB, and the code of one about 10 kB.
  const [warm, last] = [footprints[20], footprints.at(-1)]
  expect((last?.heap ?? Number.NaN) - (warm?.heap ?? 0)).toBeLessThan(8)
  expect((last?.rss ?? Number.NaN) - (warm?.rss ?? 0)).toBeLessThan(100)
}, 600_000)
