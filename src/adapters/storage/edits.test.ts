import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, START, texts } from '../../../test/support/disk-emulator.ts'
import { type Edited, type Loose, note, opened } from '../../../test/support/edited-file.ts'
import { fillingDisk } from '../../../test/support/filling-disk.ts'
import { killed, opened as openedAgain, said } from '../../../test/support/state-files.ts'
import { apiKeys } from '../../core/request/auth.ts'
import { setSettings } from '../../core/sandboxes/change.ts'
import { seal } from '../../core/secrets.ts'
import { later } from '../../core/time/realtime.ts'
import { setClock } from '../../core/time/run-events.ts'

const START_NOTES = { a: 'one', b: 'two', c: 'three' }

function editedText({ read }: Edited, text = 'edited'): string {
  const document = read()
  note(document, 'a').text = text
  return JSON.stringify(document, null, 2)
}

function take({ edit, persistence }: Edited, change: (document: Loose) => void): void {
  edit(change)
  persistence.checkpointNow()
}

/** Looks at the file as often as an edit that waits does. */
function lookAgain({ persistence, timers }: Edited): void {
  persistence.checkpointNow()
  for (let n = 0; n < 5; n++) timers.fire()
}

/** Requests that change no record: a rate window, the log and the clock. */
function poll({ sandbox, persistence }: Edited): void {
  sandbox.limits.windows.admit('ts-a pages.list', { limit: 5, window: 60_000 }, START)
  sandbox.log.count('default')
  setClock(sandbox, { skip_on_poll: true })
  setClock(sandbox, { skip_on_poll: false })
  persistence.checkpointNow()
}

function expectOwnFile({ read, sandbox }: Edited): void {
  expect(read().revision).toBe(sandbox.store.revision)
  expect(read().collections).toEqual(JSON.parse(JSON.stringify(sandbox.document().collections)))
}

function renamed({ file }: Edited, text: string): void {
  writeFileSync(`${file}~`, text)
  utimesSync(`${file}~`, 1, 1)
  renameSync(`${file}~`, file)
}

function inParts({ save, persistence }: Edited, text: string): void {
  for (const part of ['', text.slice(0, 300), text.slice(0, 700)]) {
    save(part)
    persistence.checkpointNow()
  }
  save(text)
}

const inPlace = ({ save }: Edited, text: string): void => save(text)

test.for<
  [how: string, save: (emulator: Edited, text: string) => void, meanwhile?: (emulator: Edited) => void]
>([
  ['in place', inPlace],
  ['by renaming a file of an earlier date', renamed],
  ['in parts', inParts],
  ['beside a client that polls', inPlace, poll],
])('D5 an edit that is saved %s is taken', async ([, save, meanwhile]) => {
  const emulator = await opened()
  const buffer = editedText(emulator)
  meanwhile?.(emulator)
  save(emulator, buffer)
  lookAgain(emulator)
  expect(texts(emulator.sandbox)).toEqual({ ...START_NOTES, a: 'edited' })
  expect(said(emulator)).toEqual(['edit_taken'])
  expectOwnFile(emulator)
})

test('D5 a file that is saved without changes has no effect, also beside a client that polls', async () => {
  const emulator = await opened()
  const opening = readFileSync(emulator.file, 'utf8')
  for (const meanwhile of [() => {}, poll]) {
    meanwhile(emulator)
    emulator.save(opening)
    lookAgain(emulator)
    expect([texts(emulator.sandbox), said(emulator)]).toEqual([START_NOTES, []])
    expectOwnFile(emulator)
  }
})

const edited = (text: string) => text.replace('"one"', '"edited"')

test.for<
  [what: string, edit: (text: string) => string, reason: string, meanwhile?: (emulator: Edited) => void]
>([
  [
    'of a file that a request has changed since',
    edited,
    'is an edit of revision 0, but the sandbox has changed in revision 1',
    ({ sandbox, persistence }) => {
      put(sandbox, 'b', 'by the API')
      persistence.checkpointNow()
    },
  ],
  [
    'that a request has overtaken before any checkpoint',
    edited,
    'has changed in revision 1',
    ({ sandbox }) => put(sandbox, 'b', 'by the API'),
  ],
  [
    'of a file whose settings have changed since',
    edited,
    'has changed in revision 1',
    ({ sandbox }) => setSettings(sandbox, { unknown_fields: 'reject' }),
  ],
  [
    'of a revision that the sandbox does not have',
    (text) => text.replace('"revision": 0', '"revision": 7'),
    'is an edit of revision 7, but the sandbox is at revision 0',
  ],
  ['without a revision', (text) => text.replace('"revision": 0,', ''), 'sandbox.json:1: /revision: '],
  [
    'with an invalid record',
    (text) => text.replace('"text": "one"', '"text": 1'),
    ': /collections/notes/0/text: must be of the type string',
  ],
  ['that stays half saved', (text) => text.slice(0, 300), 'the text ends'],
])('D5 an edit %s is refused and kept', async ([, edit, reason, meanwhile]) => {
  const emulator = await opened()
  const buffer = edit(readFileSync(emulator.file, 'utf8'))
  meanwhile?.(emulator)
  const before = emulator.sandbox.document()
  emulator.save(buffer)
  lookAgain(emulator)
  expect(emulator.sandbox.document()).toEqual(before)
  expectOwnFile(emulator)
  const kept = `${emulator.file}.refused.json`
  expect(readFileSync(kept, 'utf8')).toBe(buffer)
  expect(emulator.notices).toMatchObject([{ event: 'edit_refused', level: 'error', kept }])
  expect(emulator.notices[0]?.message).toContain(reason)
  expect(emulator.notices[0]?.message).toMatch(new RegExp(`: import ${kept}$`))
})

test('each refused edit is kept, and the same one once', async () => {
  const emulator = await opened()
  for (const text of ['{"first"', '{"second"', '{"first"']) {
    emulator.save(text)
    lookAgain(emulator)
  }
  const kept = ['refused', 'refused-2'].map((each) => `${emulator.file}.${each}.json`)
  expect(kept.map((path) => readFileSync(path, 'utf8'))).toEqual(['{"first"', '{"second"'])
  expect(emulator.notices.map((notice) => notice.kept)).toEqual([kept[0], kept[1], kept[0]])
  expect(emulator.notices[1]?.message).toMatch(/: import \S+refused-2\.json$/)
})

test('a running emulator notices edits, also of a file that was removed in between', async () => {
  const emulator = await opened({ later })
  emulator.save(editedText(emulator))
  await expect.poll(() => texts(emulator.sandbox).a).toBe('edited')
  expect(emulator.read().revision).toBe(emulator.sandbox.store.revision)
  rmSync(emulator.file)
  await expect.poll(() => said(emulator)).toEqual(['edit_taken', 'file_removed'])
  emulator.save(editedText(emulator, 'again'))
  await expect.poll(() => texts(emulator.sandbox).a).toBe('again')
})

test('an editor that saves several times without reading the file again is not refused', async () => {
  const emulator = await opened()
  for (const text of ['first', 'second', 'third']) {
    take(emulator, (document) => {
      note(document, 'a').text = text
      document.revision = 0
    })
    expect(texts(emulator.sandbox).a).toBe(text)
  }
  expect(said(emulator)).toEqual(['edit_taken', 'edit_taken', 'edit_taken'])
})

test('the clock goes on during an edit, and an edit only moves it forward', async () => {
  let now = START
  const emulator = await opened({ rate: 1, host: () => now })
  const buffer = editedText(emulator)
  now += 30_000
  setClock(emulator.sandbox)
  emulator.persistence.checkpointNow()
  emulator.save(buffer)
  emulator.persistence.checkpointNow()
  expect([texts(emulator.sandbox).a, emulator.sandbox.clock.now]).toEqual(['edited', START + 30_000])
  const instants = ['2026-03-01T10:00:00.000Z', '2026-03-01T13:00:00.000Z'].map((now) => {
    take(emulator, ({ clock }) => Object.assign(clock, { now }))
    return emulator.sandbox.clock.now
  })
  expect(instants).toEqual([START + 30_000, START + 3_600_000])
})

test('settings, seed and rate windows can be edited, and the log stays', async () => {
  const emulator = await opened()
  emulator.sandbox.log.count('default')
  const limits = [{ id: 'v', hits: [START, START] }]
  const edits = { settings: { unknown_fields: 'reject' }, seed: 7, limits }
  take(emulator, (document) => Object.assign(document, edits))
  expect(emulator.sandbox.document()).toMatchObject({ ...edits, counters: { requests: 1 } })
})

test('X6 a secret that is written into the file is sealed, in the sandbox and in the next file', async () => {
  const emulator = await opened()
  const facts = { kind: 'service', organization_id: 'o', teamspace_id: 't' }
  const key = { id: 'key', token: 'service_secret', ...facts }
  take(emulator, ({ collections }) => collections.api_keys.push(key))
  expect(emulator.sandbox.store.get(apiKeys.name, 'key')).toMatchObject({ token: seal('service_secret') })
  for (const file of [emulator.file, `${emulator.file}.journal`])
    expect(readFileSync(file, 'utf8')).not.toContain('service_secret')
})

test('X4 records with any id can be edited', async () => {
  const emulator = await opened()
  for (const text of ['odd', 'odder']) {
    take(emulator, ({ collections }) => {
      collections.notes = ['__proto__', ''].map((id) => ({ id, text }))
    })
    expect((emulator.sandbox.store.get('notes', '__proto__') as Loose).text).toBe(text)
  }
})

test('an edit waits during an advance, and while nothing can be written; then it is taken', async () => {
  const disk = fillingDisk('write')
  const emulator = await opened({ files: disk.files })
  emulator.save(editedText(emulator))
  const end = emulator.sandbox.advances.begin('advance')
  lookAgain(emulator)
  end()
  disk.isFull = true
  lookAgain(emulator)
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['one', ['edit_refused']])
  expect(emulator.notices[0]?.message).toContain('It is tried again, and no checkpoint overwrites it.')
  disk.isFull = false
  emulator.timers.fire()
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['edited', ['edit_refused', 'edit_taken']])
})

test('an edit that was taken is in the sandbox after a kill, even if no checkpoint followed', async () => {
  const disk = fillingDisk('create')
  const emulator = await opened({ files: disk.files })
  const buffer = editedText(emulator)
  poll(emulator)
  emulator.save(buffer)
  disk.isFull = true
  expect(() => emulator.persistence.checkpointNow()).toThrow('ENOSPC')
  const edited = await openedAgain(killed(emulator.file), { files: disk.files })
  const { counters: _, limits: __, ...document } = emulator.sandbox.document()
  expect(edited.sandbox.document()).toMatchObject(document)
  put(edited.sandbox, 'd', 'later')
  const again = await openedAgain(killed(edited.persistence.file))
  expect(texts(again.sandbox)).toEqual({ ...START_NOTES, a: 'edited', d: 'later' })
})

test('an edit that is half saved when the emulator is closed is refused and kept', async () => {
  const emulator = await opened()
  emulator.save('{"half": ')
  emulator.persistence.close()
  expect(said(emulator)).toEqual(['edit_refused'])
  expect(readFileSync(`${emulator.file}.refused.json`, 'utf8')).toBe('{"half": ')
  expect(texts((await openedAgain(emulator.file)).sandbox)).toEqual(START_NOTES)
})

test('D5 no edit and no commit is lost during many edits and requests', async () => {
  const emulator = await opened()
  for (let n = 0; n < 30; n++) {
    put(emulator.sandbox, `api-${n}`, 'by the API')
    if (n % 3 === 0) emulator.persistence.checkpointNow()
    else emulator.timers.fire()
    take(emulator, ({ collections }) => collections.notes.push({ id: `edit-${n}`, text: 'by hand' }))
  }
  expect(Object.keys(texts(emulator.sandbox))).toHaveLength(63)
  expect(new Set(said(emulator))).toEqual(new Set(['edit_taken']))
})
