import { openSync, readFileSync, writeSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, texts } from '../../../test/support/disk-world.ts'
import { note, opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'
import { type Files, nodeFiles } from './files.ts'

/** A file system that fails to tell how an open file looks, as often as it is told to. */
function failing() {
  const left = { times: 0 }
  const files: Files = {
    ...nodeFiles,
    statOf: (file) => {
      if (left.times === 0) return nodeFiles.statOf(file)
      left.times -= 1
      throw Object.assign(new Error('EIO: statOf'), { code: 'EIO' })
    },
  }
  return { files, left }
}

test('D3 a replaced file that cannot be looked at any more is said, and stops nothing', async () => {
  const { files, left } = failing()
  const world = await opened({ files })
  const editor = openSync(world.file, 'r+')
  put(world.sandbox, 'b', 'by the API')
  await world.persistence.checkpointNow()
  writeSync(editor, 'anything')
  left.times = 1
  world.timers.fire()
  expect(said(world)).toEqual(['watch_failed'])
  expect(world.notices[0]?.message).toContain('EIO: statOf. If you saved the file at that moment')
})

test('D3 the last checkpoint ends in order although the file that it has replaced cannot be looked at', async () => {
  const { files, left } = failing()
  const world = await opened({ files })
  put(world.sandbox, 'b', 'by the API')
  await world.persistence.checkpointNow()
  left.times = 2
  await world.persistence.close()
  expect(said(world)).toContain('watch_failed')
  expect(note(world.read(), 'b').text).toBe('by the API')
})

test('D3 an edit that is in the world is not refused for what fails after it', async () => {
  const { files, left } = failing()
  const world = await opened({ files })
  world.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  left.times = 1
  await world.persistence.checkpointNow()
  expect([texts(world.sandbox).a, said(world)]).toEqual(['edited', ['edit_taken']])
  expect(note(world.read(), 'a').text).toBe('edited')
})

test('D3 a refused edit for which no free name can be found is kept when the disk works again', async () => {
  let fails = true
  const files: Files = {
    ...nodeFiles,
    stat: (path) => {
      if (fails && path.includes('.rejected-')) throw Object.assign(new Error('EIO: stat'), { code: 'EIO' })
      return nodeFiles.stat(path)
    },
  }
  const world = await opened({ files })
  const wrong = readFileSync(world.file, 'utf8').replace('"one"', '7')
  world.save(wrong)
  const checkpoint = world.persistence.checkpointNow()
  await expect.poll(() => world.timers.waiting.map(({ ms }) => ms)).toEqual([1000])
  expect(world.notices[0]?.message).toContain('cannot be taken, nor kept beside: EIO: stat')
  fails = false
  world.timers.fire()
  await checkpoint
  expect([texts(world.sandbox).a, said(world)]).toEqual(['one', ['edit_refused', 'edit_refused']])
  expect(readFileSync(`${world.file}.rejected-1`, 'utf8')).toBe(wrong)
})
