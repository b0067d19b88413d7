import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { Footprint } from '../../../test/support/reloads.ts'

test('a reload frees the memory of the previous scripts', () => {
  // In a separate process: that many garbage collections of a test runner take half a minute.
  const args = ['--import', 'tsx', 'test/bench/reloads.ts', '6', '--json']
  const footprints: Footprint[] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  expect(footprints).toHaveLength(6)
  // A module that is not freed has 8 MB, a thread 40 MB: three of them would exceed the bounds.
  const [warm, last] = [footprints[2], footprints.at(-1)]
  expect((last?.heap ?? Number.NaN) - (warm?.heap ?? 0)).toBeLessThan(8)
  expect((last?.rss ?? Number.NaN) - (warm?.rss ?? 0)).toBeLessThan(100)
})
