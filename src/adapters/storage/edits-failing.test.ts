import { openSync, readFileSync, writeSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, texts } from '../../../test/support/disk-emulator.ts'
import { note, opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'
import { type Files, nodeFiles } from './files.ts'

/** A file system that fails to read the metadata of an open file, `times` times. */
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

test('D3 a replaced file with unreadable metadata is reported and stops nothing', async () => {
  const { files, left } = failing()
  const emulator = await opened({ files })
  const editor = openSync(emulator.file, 'r+')
  put(emulator.sandbox, 'b', 'by the API')
  await emulator.persistence.checkpointNow()
  writeSync(editor, 'anything')
  left.times = 1
  emulator.timers.fire()
  expect(said(emulator)).toEqual(['watch_failed'])
  expect(emulator.notices[0]?.message).toContain('EIO: statOf. If you saved the file at that moment')
})

test('D3 the last checkpoint is written even if the metadata of the replaced file cannot be read', async () => {
  const { files, left } = failing()
  const emulator = await opened({ files })
  put(emulator.sandbox, 'b', 'by the API')
  await emulator.persistence.checkpointNow()
  left.times = 2
  await emulator.persistence.close()
  expect(said(emulator)).toContain('watch_failed')
  expect(note(emulator.read(), 'b').text).toBe('by the API')
})

test('D3 an edit that is in the sandbox is not refused because of a later failure', async () => {
  const { files, left } = failing()
  const emulator = await opened({ files })
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  left.times = 1
  await emulator.persistence.checkpointNow()
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['edited', ['edit_taken']])
  expect(note(emulator.read(), 'a').text).toBe('edited')
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
  const emulator = await opened({ files })
  const wrong = readFileSync(emulator.file, 'utf8').replace('"one"', '7')
  emulator.save(wrong)
  const checkpoint = emulator.persistence.checkpointNow()
  await expect.poll(() => emulator.timers.waiting.map(({ ms }) => ms)).toEqual([1000])
  expect(emulator.notices[0]?.message).toContain('can neither be applied nor saved: EIO: stat')
  fails = false
  emulator.timers.fire()
  await checkpoint
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['one', ['edit_refused', 'edit_refused']])
  expect(readFileSync(`${emulator.file}.rejected-1`, 'utf8')).toBe(wrong)
})
