import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, START, texts } from '../../../test/support/disk-emulator.ts'
import { type Loose, note, opened as openedForEdits } from '../../../test/support/edited-file.ts'
import { killed, opened, said } from '../../../test/support/state-files.ts'
import { advanceTo } from '../../core/time/run-events.ts'
import { type Files, nodeFiles } from './files.ts'

/** A sandbox whose checkpoints fail after the start, so that its commits stay in the journal. */
async function withoutCheckpoints() {
  let fails = false
  const files: Files = {
    ...nodeFiles,
    writeSoon: (...args) => (fails ? Promise.reject(new Error('ENOSPC')) : nodeFiles.writeSoon(...args)),
  }
  const emulator = await openedForEdits({ files })
  fails = true
  /** Applies an edit of the file. */
  const look = async (): Promise<void> => emulator.persistence.checkpointNow().catch(() => {})
  return { ...emulator, look }
}

/** Expects that another process finds the same sandbox after a kill. */
async function expectSameAfterKill({ file, sandbox }: Awaited<ReturnType<typeof withoutCheckpoints>>) {
  const copy = killed(file)
  const again = await opened(copy)
  expect(again.sandbox.document()).toEqual(sandbox.document())
  expect(said(again)).toEqual([])
  return { copy, again }
}

test('D1 D5 a kill after an edit loses no commit that was acknowledged before or after the edit', async () => {
  const emulator = await withoutCheckpoints()
  put(emulator.sandbox, 'before', 'the edit')
  put(emulator.sandbox, 'b', 'changed by the API', { meta: { list: [1, 2] } })
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
    document.collections.notes.unshift({ id: 'first', text: 'by hand' })
  })
  await emulator.look()
  put(emulator.sandbox, 'b', 'and once more', { meta: { list: [1, 2, 3] } })
  put(emulator.sandbox, 'after', 'the edit')
  expect(texts(emulator.sandbox)).toMatchObject({ a: 'edited', first: 'by hand', before: 'the edit' })
  await expectSameAfterKill(emulator)
})

test('D1 D5 a second kill before the next checkpoint loses no commit', async () => {
  const emulator = await withoutCheckpoints()
  put(emulator.sandbox, 'before', 'the edit')
  emulator.edit((document) => document.collections.notes.splice(1, 1))
  await emulator.look()
  put(emulator.sandbox, 'after', 'the edit')
  const { copy, again } = await expectSameAfterKill(emulator)
  put(again.sandbox, 'later', 'in the second life')
  const third = await opened(killed(copy))
  expect([texts(third.sandbox), said(third)]).toEqual([texts(again.sandbox), []])
  await third.persistence.checkpointNow()
  const fourth = await opened(killed(third.persistence.file))
  expect([texts(fourth.sandbox), said(fourth)]).toEqual([texts(again.sandbox), []])
})

test('D1 D5 records that an edit replaced, removed, scheduled or restored are the same after a kill', async () => {
  const emulator = await withoutCheckpoints()
  const original = readFileSync(emulator.file, 'utf8')
  put(emulator.sandbox, 'a', 'changed by the API')
  put(emulator.sandbox, 'c', undefined)
  emulator.edit((document: Loose) => {
    note(document, 'a').text = 'edited'
    document.settings.unknown_fields = 'reject'
    document.clock.now = new Date(START + 5000).toISOString()
    document.schedule.push({
      id: 'shout:notes/b',
      due_at: new Date(START + 60_000).toISOString(),
      seq: 1,
      kind: 'shout',
      ref: 'notes/b',
      urgency: 'work',
      description: 'shout',
    })
  })
  await emulator.look()
  await expectSameAfterKill(emulator)
  advanceTo(emulator.sandbox, START + 70_000)
  expect(texts(emulator.sandbox).b).toBe('TWO')
  await expectSameAfterKill(emulator)
  emulator.save(original)
  await emulator.look()
  await expectSameAfterKill(emulator)
})

test('D5 an edit that changes no record keeps the commits in the journal', async () => {
  const emulator = await withoutCheckpoints()
  put(emulator.sandbox, 'before', 'the edit')
  emulator.save(JSON.stringify(emulator.read()))
  await emulator.look()
  await expectSameAfterKill(emulator)
})

test('D5 a second edit, while the emulator is stopped, is merged with the commits in the journal', async () => {
  const emulator = await withoutCheckpoints()
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  await emulator.look()
  put(emulator.sandbox, 'after', 'the edit')
  const copy = killed(emulator.file)
  writeFileSync(copy, readFileSync(copy, 'utf8').replace('"edited"', '"edited again"'))
  const again = await opened(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'edited again', b: 'two', c: 'three', after: 'the edit' })
  expect(said(again)).toEqual(['edit_taken'])
})

test('an edited file older than the previous checkpoint replaces the state, and the replaced state is kept', async () => {
  const emulator = await openedForEdits()
  const text = readFileSync(emulator.file, 'utf8').replace('"one"', '"edited"')
  emulator.save(text)
  await emulator.persistence.checkpointNow()
  put(emulator.sandbox, 'b', 'later')
  await emulator.persistence.checkpointNow()
  put(emulator.sandbox, 'd', 'more')
  await emulator.persistence.checkpointNow()
  put(emulator.sandbox, 'd', undefined)
  await emulator.persistence.close()
  writeFileSync(emulator.file, text)
  const again = await opened(emulator.file)
  expect(texts(again.sandbox)).toEqual({ a: 'edited', b: 'two', c: 'three' })
  expect(said(again)).toEqual(['went_back'])
  expect(note(JSON.parse(readFileSync(`${emulator.file}.replaced-1`, 'utf8')), 'b').text).toBe('later')
})

test('D3 an edit that cannot be written to the journal is applied once, in one write, when the disk works again', async () => {
  let failures = 0
  const written: string[] = []
  const files: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      const isEdit = / \{"file":.*"checkpoint":false/.test(Buffer.from(bytes).toString())
      if (isEdit && failures-- > 0) throw new Error('ENOSPC')
      if (isEdit) written.push(Buffer.from(bytes).toString())
      return nodeFiles.write(file, bytes, at)
    },
  }
  const emulator = await openedForEdits({ files })
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  failures = 1
  const checkpoint = emulator.persistence.checkpointNow()
  await expect.poll(() => emulator.timers.waiting.map(({ ms }) => ms)).toEqual([1000])
  expect(texts(emulator.sandbox).a).toBe('one')
  emulator.timers.fire()
  await checkpoint
  expect(said(emulator)).toEqual(['edit_taken'])
  expect(written).toEqual([
    expect.stringMatching(/"changes":\[\["patch","notes","a",.*"edited".*\n.*"checkpoint":false.*\n$/),
  ])
  const again = await opened(killed(emulator.file))
  expect([texts(again.sandbox).a, said(again)]).toEqual(['edited', []])
})
