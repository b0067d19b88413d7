import { openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, texts } from '../../../test/support/disk-emulator.ts'
import { note, opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'
import { type Files, nodeFiles } from './files.ts'

test('an edit at the moment a checkpoint is renamed is applied, and no later checkpoint overwrites it', async () => {
  let isEditing = false
  const files: Files = {
    ...nodeFiles,
    rename: (from, to) => {
      nodeFiles.rename(from, to)
      if (!isEditing || to !== emulator.file) return
      isEditing = false
      emulator.edit((document) => {
        note(document, 'a').text = 'edited'
      })
    },
  }
  const emulator = await opened({ files })
  isEditing = true
  put(emulator.sandbox, 'b', 'by the API')
  await emulator.persistence.checkpointNow()
  put(emulator.sandbox, 'c', 'by the API')
  await emulator.persistence.checkpointNow()
  expect(texts(emulator.sandbox)).toEqual({ a: 'edited', b: 'by the API', c: 'by the API' })
  expect(said(emulator)).toEqual(['edit_taken'])
})

test('an edit that the watch has not noticed yet is not overwritten by a checkpoint', async () => {
  const emulator = await opened()
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
    document.collections.notes.push({ id: 'd', text: 'new' })
    document.collections.notes.splice(2, 1)
  })
  put(emulator.sandbox, 'b', 'by the API')
  await emulator.persistence.checkpointNow()
  expect(texts(emulator.sandbox)).toEqual({ a: 'edited', b: 'by the API', d: 'new' })
  const { digest: _, ...document } = emulator.read()
  expect(document).toEqual({ ...JSON.parse(JSON.stringify(emulator.sandbox.document())), wakes_at: null })
  expect(said(emulator)).toEqual(['edit_taken'])
  expect(emulator.notices[0]?.message).toContain('records: 2 written, 1 removed')
})

test.each(['in place', 'by renaming'])(
  'an edit that comes %s while a checkpoint is being written is not overwritten',
  async (how) => {
    let during: () => void = () => {}
    const files: Files = {
      ...nodeFiles,
      sync: async (file) => {
        during()
        await nodeFiles.sync(file)
      },
    }
    const emulator = await opened({ files })
    await emulator.persistence.watching()
    during = () => {
      during = () => {}
      const text = readFileSync(emulator.file, 'utf8').replace('"one"', '"edited"')
      if (how === 'in place') return emulator.save(text)
      writeFileSync(`${emulator.file}~`, text)
      renameSync(`${emulator.file}~`, emulator.file)
    }
    put(emulator.sandbox, 'b', 'by the API')
    await emulator.persistence.checkpointNow()
    expect(texts(emulator.sandbox)).toEqual({ a: 'edited', b: 'by the API', c: 'three' })
    expect(note(emulator.read(), 'a').text).toBe('edited')
  },
)

test('text that an editor writes into a file just replaced by a checkpoint is applied', async () => {
  const emulator = await opened()
  const text = readFileSync(emulator.file, 'utf8').replace('"one"', '"late"')
  const editor = openSync(emulator.file, 'r+')
  put(emulator.sandbox, 'b', 'by the API')
  await emulator.persistence.checkpointNow()
  writeSync(editor, text)
  emulator.timers.fire()
  expect(texts(emulator.sandbox)).toEqual({ a: 'late', b: 'by the API', c: 'three' })
  await expect.poll(() => note(emulator.read(), 'a').text).toBe('late')
})

test('text that an editor writes into a file just replaced by the last checkpoint is applied', async () => {
  let replaced: () => void = () => {}
  const files: Files = {
    ...nodeFiles,
    syncDirectory: async (path) => {
      replaced()
      await nodeFiles.syncDirectory(path)
    },
  }
  const emulator = await opened({ files })
  const text = readFileSync(emulator.file, 'utf8').replace('"one"', '"late"')
  const editor = openSync(emulator.file, 'r+')
  // The journal is synced first. Then the new file replaces the old one.
  replaced = () => {
    if (note(emulator.read(), 'b').text === 'by the API') writeSync(editor, text, 0)
  }
  put(emulator.sandbox, 'b', 'by the API')
  await emulator.persistence.close()
  expect(emulator.read().collections.notes.slice(0, 2)).toEqual([
    { id: 'a', text: 'late' },
    { id: 'b', text: 'by the API' },
  ])
})
