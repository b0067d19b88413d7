import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { open, put, START, texts } from '../../../test/support/disk-emulator.ts'
import { opened } from '../../../test/support/edited-file.ts'
import { killed, opened as openedFile, said } from '../../../test/support/state-files.ts'
import { setSettings } from '../../core/sandboxes/change.ts'
import { type Files, nodeFiles } from './files.ts'

test.each([1, 3, 30])(
  'a copy of the file from %i checkpoints ago restores the whole sandbox',
  async (age) => {
    const emulator = await opened()
    put(emulator.sandbox, 'a', 'at the time of the copy')
    await emulator.persistence.checkpointNow()
    copyFileSync(emulator.file, `${emulator.file}~`)
    const then = emulator.sandbox.document()
    for (let n = 0; n < age; n++) {
      put(emulator.sandbox, 'b', `version ${n}`)
      put(emulator.sandbox, `new-${n}`, 'made since')
      await emulator.persistence.checkpointNow()
    }
    setSettings(emulator.sandbox, { unknown_fields: 'reject' })
    emulator.sandbox.clock.moveTo(START + 60_000)
    const replaced = texts(emulator.sandbox)
    copyFileSync(`${emulator.file}~`, emulator.file)
    await emulator.persistence.checkpointNow()
    const { revision, ...now } = emulator.sandbox.document()
    expect({ ...now, revision: then.revision }).toEqual(then)
    expect(revision).toBeGreaterThan(then.revision)
    expect(emulator.sandbox.clock.now).toBe(START)
    expect(emulator.notices).toMatchObject([{ event: 'went_back', kept: `${emulator.file}.replaced-1` }])
    copyFileSync(`${emulator.file}.replaced-1`, emulator.file)
    await emulator.persistence.checkpointNow()
    expect(texts(emulator.sandbox)).toEqual(replaced)
    expect(said(emulator)).toEqual(['went_back', 'went_back'])
    expect((await openedFile(killed(emulator.file))).sandbox.document()).toEqual(emulator.sandbox.document())
  },
)

test('changes after going back survive a kill before any checkpoint, and going back is not repeated', async () => {
  let fails = false
  const files: Files = {
    ...nodeFiles,
    writeSoon: (...args) => (fails ? Promise.reject(new Error('ENOSPC')) : nodeFiles.writeSoon(...args)),
  }
  const emulator = await opened({ files })
  copyFileSync(emulator.file, `${emulator.file}~`)
  put(emulator.sandbox, 'a', 'later')
  await emulator.persistence.checkpointNow()
  put(emulator.sandbox, 'b', 'in the journal')
  copyFileSync(`${emulator.file}~`, emulator.file)
  fails = true
  await emulator.persistence.checkpointNow().catch(() => {})
  put(emulator.sandbox, 'd', 'after going back')
  const again = await openedFile(killed(emulator.file))
  expect(texts(again.sandbox)).toEqual({ a: 'one', b: 'two', c: 'three', d: 'after going back' })
  expect(said(again)).toEqual([])
})

test.each(['the backup of a backup', 'the previous checkpoint'])(
  '%s can be restored while the emulator is stopped',
  async (which) => {
    const first = await opened()
    put(first.sandbox, 'a', 'second')
    await first.persistence.checkpointNow()
    copyFileSync(first.file, `${first.file}~`)
    put(first.sandbox, 'a', 'third')
    await first.persistence.checkpointNow()
    put(first.sandbox, 'a', 'fourth')
    await first.persistence.close()
    if (which === 'the previous checkpoint') copyFileSync(`${first.file}.previous`, first.file)
    else copyFileSync(`${first.file}~`, first.file)
    const again = await openedFile(first.file)
    expect(texts(again.sandbox).a).toBe(which === 'the previous checkpoint' ? 'third' : 'second')
    expect(again.notices).toMatchObject([{ event: 'went_back', kept: `${first.file}.replaced-1` }])
    put(again.sandbox, 'd', 'goes on')
    const third = await openedFile(killed(first.file))
    expect([texts(third.sandbox), said(third)]).toEqual([texts(again.sandbox), []])
  },
)

test('going back waits while the journal cannot be written, and leaves no file until then', async () => {
  let fails = false
  const files: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      if (fails && Buffer.from(bytes).includes('"checkpoint":false')) throw new Error('ENOSPC')
      return nodeFiles.write(file, bytes, at)
    },
  }
  const emulator = await opened({ files })
  copyFileSync(emulator.file, `${emulator.file}~`)
  put(emulator.sandbox, 'a', 'later')
  await emulator.persistence.checkpointNow()
  copyFileSync(`${emulator.file}~`, emulator.file)
  fails = true
  const checkpoint = emulator.persistence.checkpointNow()
  await expect.poll(() => emulator.timers.waiting.some(({ ms }) => ms === 1000)).toBe(true)
  expect(texts(emulator.sandbox).a).toBe('later')
  expect(() => readFileSync(`${emulator.file}.replaced-1`)).toThrow('ENOENT')
  fails = false
  emulator.timers.fire()
  await checkpoint
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['one', ['went_back']])
})

test('a reformatted checkpoint is an edit without changes', async () => {
  const emulator = await opened()
  copyFileSync(emulator.file, `${emulator.file}~`)
  put(emulator.sandbox, 'a', 'later')
  await emulator.persistence.checkpointNow()
  writeFileSync(emulator.file, readFileSync(`${emulator.file}~`, 'utf8').replaceAll('\n', '\r\n'))
  await emulator.persistence.checkpointNow()
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['later', ['edit_taken']])
})

test('a journal without needed commits can be removed while stopped, without an edit or a report', async () => {
  const first = await opened()
  put(first.sandbox, 'a', 'later')
  await first.persistence.checkpointNow()
  put(first.sandbox, 'b', 'later')
  await first.persistence.close()
  rmSync(`${first.file}.journal`)
  const again = await openedFile(first.file)
  expect([texts(again.sandbox), said(again)]).toEqual([{ a: 'later', b: 'later', c: 'three' }, []])
})

test('a state file is used without its journal and the previous checkpoint', async () => {
  const first = await opened()
  put(first.sandbox, 'a', 'later')
  await first.persistence.close()
  for (const name of ['.journal', '.journal.0', '.previous']) rmSync(first.file + name)
  const again = await open(first.file)
  expect([texts(again.sandbox).a, said(again)]).toEqual(['later', []])
  await again.persistence.close()
})
