import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import { writeFiles } from '../../../test/support/scenario-folder.ts'
import { readFolder } from './folder.ts'

test('the prints of a folder change when a file below it, or a given file outside, is saved', async () => {
  const folder = dataFolder()
  const outside = [`${folder}/../outside.ts`]
  const print = async () => JSON.stringify([...(await readFolder(folder, outside)).prints])
  const prints = [await print()]
  const changes = [
    { 'a.ts': '1' },
    { 'a.ts': '12' },
    { 'lib/deep/b.txt': '1' },
    { '../outside.ts': '1' },
    { '../outside.ts': '12' },
  ]
  for (const change of changes) {
    writeFiles(folder, change)
    prints.push(await print())
  }
  expect(new Set(prints).size).toBe(prints.length)
  writeFiles(folder, { '.hidden': 'x', 'node_modules/p/index.js': 'x', 'a.ts~': 'x' })
  expect(await print()).toBe(prints.at(-1))
})

test('a file that cannot be read has another print when it is no longer in the folder', async () => {
  const folder = dataFolder()
  const file = `${folder}/a.ts`
  mkdirSync(folder)
  symlinkSync('missing.ts', file)
  const { prints: listed } = await readFolder(folder, [file])
  rmSync(file)
  const { files, prints } = await readFolder(folder, [file])
  expect(files).toEqual([])
  expect([...prints.keys()]).toEqual([...listed.keys()])
  expect(prints.get(file)).not.toBe(listed.get(file))
})
