import {
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { put, START, texts } from '../../../test/support/disk-world.ts'
import { type Loose, note, opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'
import { apiKeys } from '../../kernel/request/auth.ts'
import { seal } from '../../kernel/secrets.ts'
import { type Files, nodeFiles } from './files.ts'

test('an edit is taken while the emulator runs, and its own checkpoints are not', async () => {
  const world = await opened()
  await world.persistence.watching()
  world.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  await expect
    .poll(() => texts(world.sandbox), { timeout: 5000 })
    .toEqual({ a: 'edited', b: 'two', c: 'three' })
  await expect.poll(() => world.read().revision).toBe(world.sandbox.store.revision)
  expect(said(world)).toEqual(['edit_taken'])
  put(world.sandbox, 'b', 'by the API')
  await world.persistence.checkpointNow()
  rmSync(world.file)
  await expect.poll(() => said(world), { timeout: 5000 }).toEqual(['edit_taken', 'file_removed'])
  await expect.poll(() => existsSync(world.file)).toBe(true)
  const document = world.read()
  note(document, 'c').text = 'by renaming'
  writeFileSync(`${world.file}~`, JSON.stringify(document))
  utimesSync(`${world.file}~`, 1, 1)
  renameSync(`${world.file}~`, world.file)
  await expect
    .poll(() => texts(world.sandbox), { timeout: 5000 })
    .toEqual({ a: 'edited', b: 'by the API', c: 'by renaming' })
  expect(said(world)).toEqual(['edit_taken', 'file_removed', 'edit_taken'])
})

test('an edit that the watch has not noticed yet is not overwritten by a checkpoint', async () => {
  const world = await opened()
  world.edit((document) => {
    note(document, 'a').text = 'edited'
    document.collections.notes.push({ id: 'd', text: 'new' })
    document.collections.notes.splice(2, 1)
  })
  put(world.sandbox, 'b', 'by the API')
  await world.persistence.checkpointNow()
  expect(texts(world.sandbox)).toEqual({ a: 'edited', b: 'by the API', d: 'new' })
  expect(world.read()).toEqual(JSON.parse(JSON.stringify(world.sandbox.document())))
  expect(said(world)).toEqual(['edit_taken'])
  expect(world.notices[0]?.message).toContain('records: 2 written, 1 removed')
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
    const world = await opened({ files })
    await world.persistence.watching()
    during = () => {
      during = () => {}
      const text = readFileSync(world.file, 'utf8').replace('"one"', '"edited"')
      if (how === 'in place') return world.save(text)
      writeFileSync(`${world.file}~`, text)
      renameSync(`${world.file}~`, world.file)
    }
    put(world.sandbox, 'b', 'by the API')
    await world.persistence.checkpointNow()
    expect(texts(world.sandbox)).toEqual({ a: 'edited', b: 'by the API', c: 'three' })
    expect(note(world.read(), 'a').text).toBe('edited')
  },
)

test('what an editor writes into a file that a checkpoint has just replaced is taken, too', async () => {
  const world = await opened()
  const text = readFileSync(world.file, 'utf8').replace('"one"', '"late"')
  const editor = openSync(world.file, 'r+')
  put(world.sandbox, 'b', 'by the API')
  await world.persistence.checkpointNow()
  writeSync(editor, text)
  world.timers.fire()
  expect(texts(world.sandbox)).toEqual({ a: 'late', b: 'by the API', c: 'three' })
  await expect.poll(() => note(world.read(), 'a').text).toBe('late')
})

test('what an editor writes into a file that the last checkpoint has just replaced is taken, too', async () => {
  let replaced: () => void = () => {}
  const files: Files = {
    ...nodeFiles,
    syncDirectory: async (path) => {
      replaced()
      await nodeFiles.syncDirectory(path)
    },
  }
  const world = await opened({ files })
  const text = readFileSync(world.file, 'utf8').replace('"one"', '"late"')
  const editor = openSync(world.file, 'r+')
  // The log is brought to the disk first, then the new file takes the old one's place.
  replaced = () => {
    if (note(world.read(), 'b').text === 'by the API') writeSync(editor, text, 0)
  }
  put(world.sandbox, 'b', 'by the API')
  await world.persistence.close()
  expect(world.read().collections.notes.slice(0, 2)).toEqual([
    { id: 'a', text: 'late' },
    { id: 'b', text: 'by the API' },
  ])
})

test('a file that was only touched, or saved as it was, is no edit', async () => {
  const world = await opened()
  utimesSync(world.file, 1, 1)
  await world.persistence.checkpointNow()
  world.save(readFileSync(world.file, 'utf8'))
  await world.persistence.checkpointNow()
  expect(said(world)).toEqual([])
})

test('where both have changed a record the edit wins, and what it replaced is named and kept', async () => {
  const world = await opened()
  put(world.sandbox, 'a', 'by the API')
  put(world.sandbox, 'b', 'by the API, too')
  world.edit((document) => {
    note(document, 'a').text = 'edited'
    document.collections.notes.splice(1, 1)
  })
  await world.persistence.checkpointNow()
  expect(texts(world.sandbox)).toEqual({ a: 'edited', c: 'three' })
  expect(world.notices).toMatchObject([
    { event: 'edit_taken', level: 'warn', kept: `${world.file}.replaced-1` },
  ])
  expect(world.notices[0]?.message).toContain('collections/notes/a, collections/notes/b')
  expect(JSON.parse(readFileSync(`${world.file}.replaced-1`, 'utf8'))).toEqual({
    replaced: [
      { table: 'collections/notes', record: { id: 'a', text: 'by the API' } },
      { table: 'collections/notes', record: { id: 'b', text: 'by the API, too' } },
    ],
  })
})

test('an edit of a file that several checkpoints have overtaken changes only what it changed', async () => {
  const world = await opened()
  const old = world.read()
  for (const n of [1, 2, 3]) {
    put(world.sandbox, `api-${n}`, 'created meanwhile')
    put(world.sandbox, 'b', `version ${n}`)
    await world.persistence.checkpointNow()
  }
  note(old, 'a').text = 'edited'
  world.save(JSON.stringify(old))
  await world.persistence.checkpointNow()
  expect(texts(world.sandbox)).toMatchObject({ a: 'edited', b: 'version 3', 'api-1': 'created meanwhile' })
  expect(said(world)).toEqual(['edit_taken'])
})

test('a file from elsewhere is compared with the last checkpoint, and everything that it replaces is kept', async () => {
  const world = await opened()
  put(world.sandbox, 'd', 'by the API')
  await world.persistence.checkpointNow()
  world.edit((document) => {
    document.revision = 999
    document.collections.notes = [{ id: 'z', text: 'from elsewhere' }]
  })
  await world.persistence.checkpointNow()
  expect(texts(world.sandbox)).toEqual({ z: 'from elsewhere' })
  expect(world.notices[0]?.message).toContain('made on revision 999, which is not remembered')
  const kept = JSON.parse(readFileSync(`${world.file}.replaced-1`, 'utf8'))
  expect(kept.replaced.map(({ record }: Loose) => record.id)).toEqual(['a', 'b', 'c', 'd'])
  expect(world.sandbox.store.revision).toBeLessThan(10)
})

test('an edit that is taken back before a checkpoint has followed it is taken back', async () => {
  let full = false
  const files: Files = {
    ...nodeFiles,
    writeSoon: (...args) => (full ? Promise.reject(new Error('ENOSPC')) : nodeFiles.writeSoon(...args)),
  }
  const world = await opened({ files })
  const original = readFileSync(world.file, 'utf8')
  world.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  full = true
  await expect(world.persistence.checkpointNow()).rejects.toThrow('ENOSPC')
  expect(texts(world.sandbox).a).toBe('edited')
  full = false
  world.save(original)
  await world.persistence.checkpointNow()
  expect(texts(world.sandbox).a).toBe('one')
})

test('a removed file is said and written again', async () => {
  const world = await opened()
  rmSync(world.file)
  put(world.sandbox, 'a', 'by the API')
  await world.persistence.checkpointNow()
  expect(said(world)).toEqual(['file_removed'])
  expect(note(world.read(), 'a').text).toBe('by the API')
})

test('a removed folder is made again, with everything in it', async () => {
  const world = await opened()
  rmSync(join(world.file, '..'), { recursive: true })
  put(world.sandbox, 'a', 'by the API')
  await world.persistence.checkpointNow()
  put(world.sandbox, 'b', 'later')
  expect(readdirSync(join(world.file, '..')).sort()).toEqual([
    'world.json',
    'world.json.lock',
    'world.json.log',
  ])
  expect(readFileSync(`${world.file}.log`, 'utf8')).toContain('later')
})

test('settings, seed and the pace of time are edited like records; numbers given out do not go back', async () => {
  const world = await opened({ rate: 1 })
  world.sandbox.change(({ newId }) => [newId(), newId()])
  world.edit((document) => {
    document.settings.unknown_fields = 'reject'
    document.seed = 7
    document.counters.ids = 1
    document.counters.events = 9
    document.clock.rate = 0
    document.clock.skip_on_poll = true
  })
  await world.persistence.checkpointNow()
  const after = world.sandbox.document()
  expect(after).toMatchObject({
    settings: { unknown_fields: 'reject' },
    seed: 7,
    counters: { ids: 2, uuids: 0, events: 9 },
    clock: { rate: 0, skip_on_poll: true, wall: null },
  })
  expect([world.sandbox.seed, world.sandbox.clock.rate]).toEqual([7, 0])
})

test('a clock that is edited forward runs what is due on the way; backward it stays', async () => {
  const world = await opened()
  world.edit((document) => {
    document.schedule.push({
      id: 'shout:notes/a',
      due_at: new Date(START + 1000).toISOString(),
      seq: 1,
      kind: 'shout',
      ref: 'notes/a',
      urgency: 'work',
      says: 'shout',
    })
    document.clock.now = new Date(START + 5000).toISOString()
  })
  await world.persistence.checkpointNow()
  expect([texts(world.sandbox).a, world.sandbox.clock.now]).toEqual(['ONE', START + 5000])
  world.edit((document) => {
    document.clock.now = new Date(START).toISOString()
  })
  await world.persistence.checkpointNow()
  expect(world.sandbox.clock.now).toBe(START + 5000)
  expect(world.notices[1]?.message).toContain('/clock/now is in the past and has been left out')
})

test('rate windows are edited like records', async () => {
  const world = await opened()
  world.sandbox.limiter.load([{ id: 'w', hits: [START] }])
  await world.persistence.checkpointNow()
  world.edit((document) => {
    document.limits = [{ id: 'v', hits: [START, START] }]
  })
  await world.persistence.checkpointNow()
  expect(world.sandbox.limiter.save()).toEqual([{ id: 'v', hits: [START, START] }])
})

test('X6 a secret that is written into the file is sealed, in the world and in the next file', async () => {
  const world = await opened()
  world.edit((document) => {
    const facts = { kind: 'service', organization_id: 'o', teamspace_id: 't' }
    document.collections.api_keys.push({ id: 'key', token: 'service_secret', ...facts })
  })
  await world.persistence.checkpointNow()
  expect(world.sandbox.store.get(apiKeys.name, 'key')).toMatchObject({ token: seal('service_secret') })
  expect(readFileSync(world.file, 'utf8') + readFileSync(`${world.file}.log`, 'utf8')).not.toContain(
    'service_secret',
  )
})

test('X4 records with any id are edited', async () => {
  const world = await opened()
  world.edit((document) => {
    document.collections.notes.push({ id: '__proto__', text: 'odd' }, { id: '', text: 'empty' })
  })
  await world.persistence.checkpointNow()
  world.edit((document) => {
    note(document, '__proto__').text = 'odder'
  })
  await world.persistence.checkpointNow()
  expect((world.sandbox.store.get('notes', '__proto__') as Loose).text).toBe('odder')
  expect((world.sandbox.store.get('notes', '') as Loose).text).toBe('empty')
})

test('an edit waits while the log cannot be written', async () => {
  let broken = false
  const files: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      if (broken) throw new Error('ENOSPC')
      return nodeFiles.write(file, bytes, at)
    },
  }
  const world = await opened({ files })
  world.edit((document) => {
    note(document, 'a').text = 'edited'
  })
  broken = true
  const checkpoint = world.persistence.checkpointNow()
  await expect.poll(() => world.timers.waiting.map(({ ms }) => ms)).toEqual([1000])
  expect(texts(world.sandbox).a).toBe('one')
  broken = false
  world.timers.fire()
  await checkpoint
  expect([texts(world.sandbox).a, said(world)]).toEqual(['edited', ['edit_taken']])
})

test('D5 many edits amid the traffic of the API: none is lost, nor any commit', async () => {
  const world = await opened()
  const made: string[] = []
  for (let n = 0; n < 60; n++) {
    put(world.sandbox, `api-${n}`, 'by the API')
    const checkpoint = n % 3 === 0 ? world.persistence.checkpointNow() : undefined
    if (n % 2 === 0) await new Promise((next) => setImmediate(next))
    made.push(`edit-${n}`)
    world.edit((document) => document.collections.notes.push({ id: `edit-${n}`, text: 'by hand' }))
    await checkpoint
    if (n % 4 === 1) world.timers.fire()
    await world.persistence.checkpointNow()
  }
  const ids = Object.keys(texts(world.sandbox))
  expect(made.filter((id) => !ids.includes(id))).toEqual([])
  expect(ids.filter((id) => id.startsWith('api-'))).toHaveLength(60)
  expect(new Set(said(world))).toEqual(new Set(['edit_taken']))
})
