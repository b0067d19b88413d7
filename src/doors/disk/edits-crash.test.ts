import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, START, texts } from '../../../test/support/disk-world.ts'
import { type Loose, note, opened as openedForEdits } from '../../../test/support/edited-file.ts'
import { killed, opened, said } from '../../../test/support/state-files.ts'
import { advanceTo } from '../../kernel/time/settle.ts'
import { type Files, nodeFiles } from './files.ts'

/** A world whose checkpoints fail from the moment on that they are told to: what is in its log stays there. */
async function withoutCheckpoints() {
  let fails = false
  const files: Files = {
    ...nodeFiles,
    writeSoon: (...args) => (fails ? Promise.reject(new Error('ENOSPC')) : nodeFiles.writeSoon(...args)),
  }
  const world = await openedForEdits({ files })
  fails = true
  /** Takes what the file says. */
  const look = async (): Promise<void> => world.persistence.checkpointNow().catch(() => {})
  return { ...world, look }
}

/** The world as another process finds it now, compared with what it is. */
async function expectSameAfterKill({ file, sandbox }: Awaited<ReturnType<typeof withoutCheckpoints>>) {
  const copy = killed(file)
  const again = await opened(copy)
  expect(again.sandbox.document()).toEqual(sandbox.document())
  expect(said(again)).toEqual([])
  return { copy, again }
}

test('D1 D5 a kill after an edit has been taken loses nothing that was acknowledged before it or after it', async () => {
  const world = await withoutCheckpoints()
  put(world.sandbox, 'before', 'the edit')
  put(world.sandbox, 'b', 'changed by the API', { meta: { list: [1, 2] } })
  world.edit((document) => {
    note(document, 'a').text = 'edited'
    document.collections.notes.unshift({ id: 'first', text: 'by hand' })
  })
  await world.look()
  put(world.sandbox, 'b', 'and once more', { meta: { list: [1, 2, 3] } })
  put(world.sandbox, 'after', 'the edit')
  expect(texts(world.sandbox)).toMatchObject({ a: 'edited', first: 'by hand', before: 'the edit' })
  await expectSameAfterKill(world)
})

test('D1 D5 nor does a second kill before the next checkpoint', async () => {
  const world = await withoutCheckpoints()
  put(world.sandbox, 'before', 'the edit')
  world.edit((document) => document.collections.notes.splice(1, 1))
  await world.look()
  put(world.sandbox, 'after', 'the edit')
  const { copy, again } = await expectSameAfterKill(world)
  put(again.sandbox, 'later', 'in the second life')
  const third = await opened(killed(copy))
  expect([texts(third.sandbox), said(third)]).toEqual([texts(again.sandbox), []])
  await third.persistence.checkpointNow()
  const fourth = await opened(killed(third.persistence.file))
  expect([texts(fourth.sandbox), said(fourth)]).toEqual([texts(again.sandbox), []])
})

test('D1 D5 what an edit has replaced, removed, scheduled, or set back to what it was is the same after a kill', async () => {
  const world = await withoutCheckpoints()
  const original = readFileSync(world.file, 'utf8')
  put(world.sandbox, 'a', 'changed by the API')
  put(world.sandbox, 'c', undefined)
  world.edit((document: Loose) => {
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
      says: 'shout',
    })
  })
  await world.look()
  await expectSameAfterKill(world)
  advanceTo(world.sandbox, START + 70_000)
  expect(texts(world.sandbox).b).toBe('TWO')
  await expectSameAfterKill(world)
  world.save(original)
  await world.look()
  await expectSameAfterKill(world)
})

test('D5 an edit that changes no record leaves what is in the log in force', async () => {
  const world = await withoutCheckpoints()
  put(world.sandbox, 'before', 'the edit')
  world.save(JSON.stringify(world.read()))
  await world.look()
  await expectSameAfterKill(world)
})

test('D5 a file that is edited once more while nothing runs is in force without the log', async () => {
  const world = await withoutCheckpoints()
  world.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  await world.look()
  put(world.sandbox, 'after', 'the edit')
  const copy = killed(world.file)
  writeFileSync(copy, readFileSync(copy, 'utf8').replace('"edited"', '"edited again"'))
  const again = await opened(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'edited again', b: 'two', c: 'three' })
  expect(said(again)).toEqual(['log_orphaned'])
})

test('an edit that a checkpoint has followed is forgotten: the same text is an edit again', async () => {
  const world = await openedForEdits()
  const text = readFileSync(world.file, 'utf8').replace('"one"', '"edited"')
  world.save(text)
  await world.persistence.checkpointNow()
  put(world.sandbox, 'b', 'later')
  await world.persistence.close()
  writeFileSync(world.file, text)
  const again = await opened(world.file)
  expect(texts(again.sandbox)).toEqual({ a: 'edited', b: 'two', c: 'three' })
  expect(said(again)).toEqual(['edited_while_stopped'])
})

test('D3 an edit that cannot be written to the log is taken once, when that works again, in one write', async () => {
  let failures = 0
  const written: string[] = []
  const files: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      const isEdit = Buffer.from(bytes).includes('"adopts"')
      if (isEdit && failures-- > 0) throw new Error('ENOSPC')
      if (isEdit) written.push(Buffer.from(bytes).toString())
      return nodeFiles.write(file, bytes, at)
    },
  }
  const world = await openedForEdits({ files })
  world.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  failures = 1
  const checkpoint = world.persistence.checkpointNow()
  await expect.poll(() => world.timers.waiting.map(({ ms }) => ms)).toEqual([1000])
  expect(texts(world.sandbox).a).toBe('one')
  world.timers.fire()
  await checkpoint
  expect(said(world)).toEqual(['edit_taken'])
  expect(written).toEqual([
    expect.stringMatching(/"changes":\[\["patch","notes","a",.*"edited".*\n.*"adopts".*\n$/),
  ])
  const again = await opened(killed(world.file))
  expect([texts(again.sandbox).a, said(again)]).toEqual(['edited', []])
})
