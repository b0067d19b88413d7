import { expect, onTestFinished, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import { reload, writeLargeScript } from '../../../test/support/reloads.ts'
import { openLibrary, snapshotOf } from '../../../test/support/scenario-folder.ts'

test('nothing of a script outlives its reload: the memory of the process stays flat', async () => {
  const folder = dataFolder()
  writeLargeScript(folder, 0)
  const { library } = await openLibrary(folder)
  onTestFinished(() => library.close())
  const footprints = await reload(library, folder, 10)
  expect(await library.call('large', { timeline: 0 }, snapshotOf())).toEqual([
    { kind: 'log', text: 'row 7 of 10' },
  ])
  // One module that is left behind has 8 MB, one thread 40 MB: seven of them could not hide.
  const [warm, last] = [footprints[2], footprints.at(-1)]
  expect((last?.heap ?? Number.NaN) - (warm?.heap ?? 0)).toBeLessThan(8)
  expect((last?.rss ?? Number.NaN) - (warm?.rss ?? 0)).toBeLessThan(100)
})
