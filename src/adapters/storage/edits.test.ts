import { existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { put, START, texts } from '../../../test/support/disk-emulator.ts'
import { type Loose, note, opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'
import { apiKeys } from '../../core/request/auth.ts'
import { change } from '../../core/sandboxes/change.ts'
import { seal } from '../../core/secrets.ts'
import { type Files, nodeFiles } from './files.ts'

test('an edit is applied while the emulator runs, and its own checkpoints do not count as edits', async () => {
  const emulator = await opened()
  await emulator.persistence.watching()
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  await expect
    .poll(() => texts(emulator.sandbox), { timeout: 5000 })
    .toEqual({ a: 'edited', b: 'two', c: 'three' })
  await expect.poll(() => emulator.read().revision).toBe(emulator.sandbox.store.revision)
  expect(said(emulator)).toEqual(['edit_taken'])
  put(emulator.sandbox, 'b', 'by the API')
  await emulator.persistence.checkpointNow()
  rmSync(emulator.file)
  await expect.poll(() => said(emulator), { timeout: 5000 }).toEqual(['edit_taken', 'file_removed'])
  await expect.poll(() => existsSync(emulator.file)).toBe(true)
  const document = emulator.read()
  note(document, 'c').text = 'by renaming'
  writeFileSync(`${emulator.file}~`, JSON.stringify(document))
  utimesSync(`${emulator.file}~`, 1, 1)
  renameSync(`${emulator.file}~`, emulator.file)
  await expect
    .poll(() => texts(emulator.sandbox), { timeout: 5000 })
    .toEqual({ a: 'edited', b: 'by the API', c: 'by renaming' })
  expect(said(emulator)).toEqual(['edit_taken', 'file_removed', 'edit_taken'])
})

test('a file that was only touched or saved without changes is not an edit', async () => {
  const emulator = await opened()
  utimesSync(emulator.file, 1, 1)
  await emulator.persistence.checkpointNow()
  emulator.save(readFileSync(emulator.file, 'utf8'))
  await emulator.persistence.checkpointNow()
  expect(said(emulator)).toEqual([])
})

test('if file and sandbox have both changed a record, the edit wins and the replaced record is reported and kept', async () => {
  const emulator = await opened()
  put(emulator.sandbox, 'a', 'by the API')
  put(emulator.sandbox, 'b', 'by the API, too')
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
    document.collections.notes.splice(1, 1)
  })
  await emulator.persistence.checkpointNow()
  expect(texts(emulator.sandbox)).toEqual({ a: 'edited', c: 'three' })
  expect(emulator.notices).toMatchObject([
    { event: 'edit_taken', level: 'warn', kept: `${emulator.file}.replaced-1` },
  ])
  expect(emulator.notices[0]?.message).toContain('collections/notes/a, collections/notes/b')
  expect(JSON.parse(readFileSync(`${emulator.file}.replaced-1`, 'utf8'))).toEqual({
    replaced: [
      { table: 'collections/notes', record: { id: 'a', text: 'by the API' } },
      { table: 'collections/notes', record: { id: 'b', text: 'by the API, too' } },
    ],
  })
})

test('an edit of a file that is several checkpoints old changes only the edited records', async () => {
  const emulator = await opened()
  const old = emulator.read()
  for (const n of [1, 2, 3]) {
    put(emulator.sandbox, `api-${n}`, 'created meanwhile')
    put(emulator.sandbox, 'b', `version ${n}`)
    await emulator.persistence.checkpointNow()
  }
  note(old, 'a').text = 'edited'
  emulator.save(JSON.stringify(old))
  await emulator.persistence.checkpointNow()
  expect(texts(emulator.sandbox)).toMatchObject({ a: 'edited', b: 'version 3', 'api-1': 'created meanwhile' })
  expect(said(emulator)).toEqual(['edit_taken'])
})

test('an edit of an unknown revision is refused and kept, and the message names the fix', async () => {
  const emulator = await opened()
  emulator.edit((document) => {
    document.revision = 999
    document.collections.notes = [{ id: 'z', text: 'from elsewhere' }]
  })
  const text = readFileSync(emulator.file, 'utf8')
  await emulator.persistence.checkpointNow()
  expect(texts(emulator.sandbox)).toEqual({ a: 'one', b: 'two', c: 'three' })
  expect(emulator.notices).toMatchObject([{ event: 'edit_refused', kept: `${emulator.file}.rejected-1` }])
  expect(emulator.notices[0]?.message).toMatch(/revision 999, which is not in memory.*PUT .__emulator.state/)
  expect(readFileSync(`${emulator.file}.rejected-1`, 'utf8')).toBe(text)
})

test('an edit of a file that is hundreds of checkpoints old changes only the edited records', async () => {
  const emulator = await opened()
  const old = emulator.read()
  for (let n = 0; n < 200; n++) {
    put(emulator.sandbox, 'b', `version ${n}`)
    await emulator.persistence.checkpointNow()
  }
  note(old, 'a').text = 'edited'
  emulator.save(JSON.stringify(old))
  await emulator.persistence.checkpointNow()
  expect(texts(emulator.sandbox)).toEqual({ a: 'edited', b: 'version 199', c: 'three' })
})

test('an edit that is undone in the file before the next checkpoint is undone in the sandbox', async () => {
  let full = false
  const files: Files = {
    ...nodeFiles,
    writeSoon: (...args) => (full ? Promise.reject(new Error('ENOSPC')) : nodeFiles.writeSoon(...args)),
  }
  const emulator = await opened({ files })
  const original = readFileSync(emulator.file, 'utf8')
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  full = true
  await expect(emulator.persistence.checkpointNow()).rejects.toThrow('ENOSPC')
  expect(texts(emulator.sandbox).a).toBe('edited')
  full = false
  emulator.save(original)
  await emulator.persistence.checkpointNow()
  expect(texts(emulator.sandbox).a).toBe('one')
})

test('a removed file is reported and written again', async () => {
  const emulator = await opened()
  rmSync(emulator.file)
  put(emulator.sandbox, 'a', 'by the API')
  await emulator.persistence.checkpointNow()
  expect(said(emulator)).toEqual(['file_removed'])
  expect(note(emulator.read(), 'a').text).toBe('by the API')
})

test('a removed folder is created again with all its files', async () => {
  const emulator = await opened()
  rmSync(join(emulator.file, '..'), { recursive: true })
  put(emulator.sandbox, 'a', 'by the API')
  await emulator.persistence.checkpointNow()
  put(emulator.sandbox, 'b', 'later')
  expect(readdirSync(join(emulator.file, '..')).sort()).toEqual([
    'sandbox.json',
    'sandbox.json.journal',
    'sandbox.json.previous',
  ])
  expect(readFileSync(`${emulator.file}.journal`, 'utf8')).toContain('later')
})

test('settings, seed and clock rate can be edited like records; counters never decrease', async () => {
  const emulator = await opened({ rate: 1 })
  change(emulator.sandbox, ({ newId }) => [newId(), newId()])
  emulator.edit((document) => {
    document.settings.unknown_fields = 'reject'
    document.seed = 7
    document.counters.ids = 1
    document.counters.events = 9
    document.clock.rate = 0
    document.clock.skip_on_poll = true
  })
  await emulator.persistence.checkpointNow()
  const after = emulator.sandbox.document()
  expect(after).toMatchObject({
    settings: { unknown_fields: 'reject' },
    seed: 7,
    counters: { ids: 2, uuids: 0, events: 9 },
    clock: { rate: 0, skip_on_poll: true, wall: null },
  })
  expect([emulator.sandbox.seed, emulator.sandbox.clock.rate]).toEqual([7, 0])
})

test('a clock that is edited forward runs the due events; one that is edited backward does not move', async () => {
  const emulator = await opened()
  emulator.edit((document) => {
    document.schedule.push({
      id: 'shout:notes/a',
      due_at: new Date(START + 1000).toISOString(),
      seq: 1,
      kind: 'shout',
      ref: 'notes/a',
      urgency: 'work',
      description: 'shout',
    })
    document.clock.now = new Date(START + 5000).toISOString()
  })
  await emulator.persistence.checkpointNow()
  expect([texts(emulator.sandbox).a, emulator.sandbox.clock.now]).toEqual(['ONE', START + 5000])
  emulator.edit((document) => {
    document.clock.now = new Date(START).toISOString()
  })
  await emulator.persistence.checkpointNow()
  expect(emulator.sandbox.clock.now).toBe(START + 5000)
  expect(emulator.notices[1]?.message).toContain('/clock/now is in the past and has been ignored')
})

test('a clock that is edited past 500 due events runs 500 of them, and the message names the next step', async () => {
  const emulator = await opened()
  const ids = Array.from({ length: 600 }, (_, n) => `n${n}`)
  emulator.edit((document) => {
    document.collections.notes?.push(...ids.map((id) => ({ id, text: 'low' })))
    document.schedule.push(
      ...ids.map((id, n) => ({
        id: `shout:notes/${id}`,
        due_at: new Date(START + 1000 + n).toISOString(),
        seq: n + 1,
        kind: 'shout',
        ref: `notes/${id}`,
        urgency: 'work' as const,
        description: 'shout',
      })),
    )
    document.clock.now = new Date(START + 5000).toISOString()
  })
  await emulator.persistence.checkpointNow()
  expect(emulator.sandbox.clock.now).toBe(START + 1499)
  expect([texts(emulator.sandbox).n499, texts(emulator.sandbox).n500]).toEqual(['LOW', 'low'])
  const [notice] = emulator.notices
  expect(notice?.message).toContain(
    'An edit of /clock/now may run 500 events at once, and more are due up to',
  )
  expect(notice?.message).toContain(
    'POST /__emulator/clock/advance {"to": "2026-03-01T12:00:05.000Z"} goes there',
  )
})

test('rate limit windows can be edited like records', async () => {
  const emulator = await opened()
  emulator.sandbox.limiter.load([{ id: 'w', hits: [START] }])
  await emulator.persistence.checkpointNow()
  emulator.edit((document) => {
    document.limits = [{ id: 'v', hits: [START, START] }]
  })
  await emulator.persistence.checkpointNow()
  expect(emulator.sandbox.limiter.save()).toEqual([{ id: 'v', hits: [START, START] }])
})

test('X6 a secret that is written into the file is sealed, in the sandbox and in the next file', async () => {
  const emulator = await opened()
  emulator.edit((document) => {
    const facts = { kind: 'service', organization_id: 'o', teamspace_id: 't' }
    document.collections.api_keys.push({ id: 'key', token: 'service_secret', ...facts })
  })
  await emulator.persistence.checkpointNow()
  expect(emulator.sandbox.store.get(apiKeys.name, 'key')).toMatchObject({ token: seal('service_secret') })
  expect(
    readFileSync(emulator.file, 'utf8') + readFileSync(`${emulator.file}.journal`, 'utf8'),
  ).not.toContain('service_secret')
})

test('X4 records with any id can be edited', async () => {
  const emulator = await opened()
  emulator.edit((document) => {
    document.collections.notes.push({ id: '__proto__', text: 'odd' }, { id: '', text: 'empty' })
  })
  await emulator.persistence.checkpointNow()
  emulator.edit((document) => {
    note(document, '__proto__').text = 'odder'
  })
  await emulator.persistence.checkpointNow()
  expect((emulator.sandbox.store.get('notes', '__proto__') as Loose).text).toBe('odder')
  expect((emulator.sandbox.store.get('notes', '') as Loose).text).toBe('empty')
})

test('an edit waits while the journal cannot be written', async () => {
  let broken = false
  const files: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      if (broken) throw new Error('ENOSPC')
      return nodeFiles.write(file, bytes, at)
    },
  }
  const emulator = await opened({ files })
  emulator.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  broken = true
  const checkpoint = emulator.persistence.checkpointNow()
  await expect.poll(() => emulator.timers.waiting.map(({ ms }) => ms)).toEqual([1000])
  expect(texts(emulator.sandbox).a).toBe('one')
  broken = false
  emulator.timers.fire()
  await checkpoint
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['edited', ['edit_taken']])
})

test('D5 no edit and no commit is lost during many edits and API requests', async () => {
  const emulator = await opened()
  const made: string[] = []
  for (let n = 0; n < 60; n++) {
    put(emulator.sandbox, `api-${n}`, 'by the API')
    const checkpoint = n % 3 === 0 ? emulator.persistence.checkpointNow() : undefined
    if (n % 2 === 0) await new Promise((next) => setImmediate(next))
    made.push(`edit-${n}`)
    emulator.edit((document) => document.collections.notes.push({ id: `edit-${n}`, text: 'by hand' }))
    await checkpoint
    if (n % 4 === 1) emulator.timers.fire()
    await emulator.persistence.checkpointNow()
  }
  const ids = Object.keys(texts(emulator.sandbox))
  expect(made.filter((id) => !ids.includes(id))).toEqual([])
  expect(ids.filter((id) => id.startsWith('api-'))).toHaveLength(60)
  expect(new Set(said(emulator))).toEqual(new Set(['edit_taken']))
})
