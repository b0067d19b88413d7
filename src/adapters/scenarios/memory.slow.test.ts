import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { Footprint } from '../../../test/support/reloads.ts'

test('nothing of a script outlives its reload: the memory of the process stays flat', () => {
  // In a process of its own: collecting the garbage of a test runner that often takes half a minute.
  const args = ['--import', 'tsx', 'test/bench/reloads.ts', '6', '--json']
  const footprints: Footprint[] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  expect(footprints).toHaveLength(6)
  // One module that is left behind has 8 MB, one thread 40 MB: three of them could not hide.
  const [warm, last] = [footprints[2], footprints.at(-1)]
  expect((last?.heap ?? Number.NaN) - (warm?.heap ?? 0)).toBeLessThan(8)
  expect((last?.rss ?? Number.NaN) - (warm?.rss ?? 0)).toBeLessThan(100)
})
