import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, START, texts } from '../../../test/support/disk-emulator.ts'
import { type Edited, type Loose, note, opened } from '../../../test/support/edited-file.ts'
import { killed, opened as openedAgain, said } from '../../../test/support/state-files.ts'
import { apiKeys } from '../../core/request/auth.ts'
import { setSettings } from '../../core/sandboxes/change.ts'
import { seal } from '../../core/secrets.ts'
import { later } from '../../core/time/realtime.ts'
import { setClock } from '../../core/time/run-events.ts'
import { type Files, nodeFiles } from './files.ts'

const START_NOTES = { a: 'one', b: 'two', c: 'three' }

/** The text of the file with the note "a" edited. */
function editedText({ read }: Edited, text = 'edited'): string {
  const document = read()
  note(document, 'a').text = text
  return JSON.stringify(document, null, 2)
}

/** Looks at the file as often as an edit that waits does. */
function lookAgain({ persistence, timers }: Edited): void {
  persistence.checkpointNow()
  for (let n = 0; n < 5; n++) timers.fire()
}

interface Kind {
  readonly name: string
  /** What happens after the editor has opened the file. */
  readonly meanwhile?: (emulator: Edited) => void
  readonly save: (emulator: Edited, text: string) => void
  readonly text?: (text: string) => string
  readonly expected: 'taken' | 'refused' | 'nothing'
  readonly reason?: string
}

const inPlace: Kind['save'] = ({ save }, text) => save(text)

/** Requests that change no record: a rate window, the log and the clock. */
function poll({ sandbox, persistence }: Edited): void {
  sandbox.limits.windows.admit('ts-a pages.list', { limit: 5, window: 60_000 }, START)
  sandbox.log.count('default')
  setClock(sandbox, { skip_on_poll: true })
  setClock(sandbox, { skip_on_poll: false })
  persistence.checkpointNow()
}

const KINDS: readonly Kind[] = [
  { name: 'saved in place', save: inPlace, expected: 'taken' },
  {
    name: 'saved by renaming a file of an earlier date',
    save: ({ file }, text) => {
      writeFileSync(`${file}~`, text)
      utimesSync(`${file}~`, 1, 1)
      renameSync(`${file}~`, file)
    },
    expected: 'taken',
  },
  {
    name: 'that is half saved at first',
    save: ({ save, persistence }, text) => {
      for (const part of ['', text.slice(0, 300), text.slice(0, 700)]) {
        save(part)
        persistence.checkpointNow()
      }
      save(text)
    },
    expected: 'taken',
  },
  { name: 'saved beside a client that polls', meanwhile: poll, save: inPlace, expected: 'taken' },
  { name: 'without changes', save: inPlace, text: (text) => text, expected: 'nothing' },
  {
    name: 'without changes beside a client that polls',
    meanwhile: poll,
    save: inPlace,
    text: (text) => text,
    expected: 'nothing',
  },
  {
    name: 'of a file that a request has changed since',
    meanwhile: ({ sandbox, persistence }) => {
      put(sandbox, 'b', 'by the API')
      persistence.checkpointNow()
    },
    save: inPlace,
    expected: 'refused',
    reason: 'is an edit of revision 0, but the sandbox has changed in revision 1',
  },
  {
    name: 'that a request has overtaken before any checkpoint',
    meanwhile: ({ sandbox }) => put(sandbox, 'b', 'by the API'),
    save: inPlace,
    expected: 'refused',
    reason: 'has changed in revision 1',
  },
  {
    name: 'of a file whose settings have changed since',
    meanwhile: ({ sandbox }) => setSettings(sandbox, { unknown_fields: 'reject' }),
    save: inPlace,
    expected: 'refused',
    reason: 'has changed in revision 1',
  },
  {
    name: 'of a revision that the sandbox does not have',
    save: inPlace,
    text: (text) => text.replace('"revision": 0', '"revision": 7'),
    expected: 'refused',
    reason: 'is an edit of revision 7, but the sandbox is at revision 0',
  },
  {
    name: 'without a revision',
    save: inPlace,
    text: (text) => text.replace('"revision": 0,', ''),
    expected: 'refused',
    reason: 'sandbox.json:1: /revision: ',
  },
  {
    name: 'with an invalid record',
    save: inPlace,
    text: (text) => text.replace('"text": "one"', '"text": 1'),
    expected: 'refused',
    reason: ': /collections/notes/0/text: must be of the type string',
  },
  {
    name: 'that stays half saved',
    save: inPlace,
    text: (text) => text.slice(0, 300),
    expected: 'refused',
    reason: 'the text ends',
  },
  {
    name: 'that is empty',
    save: inPlace,
    text: () => '',
    expected: 'refused',
    reason: 'sandbox.json:1:1: expected a value, but the text ends',
  },
  {
    name: 'with another format',
    save: inPlace,
    text: (text) => text.replace('"format": 2', '"format": 3'),
    expected: 'refused',
    reason: 'its format is 3; this version reads 2',
  },
]

test.each(KINDS)('D5 an edit $name: $expected', async ({ meanwhile, save, text, expected, reason }) => {
  const emulator = await opened()
  const opening = readFileSync(emulator.file, 'utf8')
  const buffer = text === undefined ? editedText(emulator) : text(opening)
  meanwhile?.(emulator)
  const before = emulator.sandbox.document()
  save(emulator, buffer)
  lookAgain(emulator)
  const { revision } = emulator.sandbox.store
  // The file is that of the sandbox again in every case.
  expect([emulator.read().revision, emulator.read().collections]).toEqual([
    revision,
    JSON.parse(JSON.stringify(emulator.sandbox.document().collections)),
  ])
  if (expected === 'taken') {
    expect(texts(emulator.sandbox)).toEqual({ ...START_NOTES, a: 'edited' })
    expect(said(emulator)).toEqual(['edit_taken'])
    return
  }
  expect(emulator.sandbox.document()).toEqual(before)
  if (expected === 'nothing') return expect(said(emulator)).toEqual([])
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
  await expect.poll(() => texts(emulator.sandbox).a, { timeout: 10_000 }).toBe('edited')
  expect(emulator.read().revision).toBe(emulator.sandbox.store.revision)
  rmSync(emulator.file)
  await expect.poll(() => said(emulator), { timeout: 10_000 }).toEqual(['edit_taken', 'file_removed'])
  emulator.save(editedText(emulator, 'again'))
  await expect.poll(() => texts(emulator.sandbox).a, { timeout: 10_000 }).toBe('again')
})

test('an editor that saves several times without reading the file again is not refused', async () => {
  const emulator = await opened()
  for (const text of ['first', 'second', 'third']) {
    const document = emulator.read()
    note(document, 'a').text = text
    document.revision = 0
    emulator.save(JSON.stringify(document))
    emulator.persistence.checkpointNow()
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
  for (const [instant, expected] of [
    ['2026-03-01T10:00:00.000Z', START + 30_000],
    ['2026-03-01T13:00:00.000Z', START + 3_600_000],
  ] as const) {
    emulator.edit(({ clock }) => {
      clock.now = instant
    })
    emulator.persistence.checkpointNow()
    expect(emulator.sandbox.clock.now).toBe(expected)
  }
})

test('settings, seed, rate windows and fault rules can be edited, and the log stays', async () => {
  const emulator = await opened()
  emulator.sandbox.log.count('default')
  emulator.edit((document) => {
    document.settings = { unknown_fields: 'reject' }
    document.seed = 7
    document.limits = [{ id: 'v', hits: [START, START] }]
  })
  emulator.persistence.checkpointNow()
  const { settings, seed, limits, counters } = emulator.sandbox.document()
  expect([settings, seed, limits, counters.requests]).toEqual([
    { unknown_fields: 'reject' },
    7,
    [{ id: 'v', hits: [START, START] }],
    1,
  ])
})

test('X6 a secret that is written into the file is sealed, in the sandbox and in the next file', async () => {
  const emulator = await opened()
  emulator.edit((document) => {
    const facts = { kind: 'service', organization_id: 'o', teamspace_id: 't' }
    document.collections.api_keys.push({ id: 'key', token: 'service_secret', ...facts })
  })
  emulator.persistence.checkpointNow()
  expect(emulator.sandbox.store.get(apiKeys.name, 'key')).toMatchObject({ token: seal('service_secret') })
  expect(
    readFileSync(emulator.file, 'utf8') + readFileSync(`${emulator.file}.journal`, 'utf8'),
  ).not.toContain('service_secret')
})

test('X4 records with any id can be edited', async () => {
  const emulator = await opened()
  for (const text of ['odd', 'odder']) {
    emulator.edit((document) => {
      document.collections.notes = [
        { id: '__proto__', text },
        { id: '', text: 'empty' },
      ]
    })
    emulator.persistence.checkpointNow()
    expect((emulator.sandbox.store.get('notes', '__proto__') as Loose).text).toBe(text)
  }
})

test('an edit waits during an advance, and while nothing can be written; then it is taken', async () => {
  let isFull = false
  const files: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      if (isFull) throw new Error('ENOSPC')
      return nodeFiles.write(file, bytes, at)
    },
  }
  const emulator = await opened({ files })
  emulator.save(editedText(emulator))
  const end = emulator.sandbox.advances.begin('advance')
  lookAgain(emulator)
  end()
  isFull = true
  lookAgain(emulator)
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['one', ['edit_refused']])
  expect(emulator.notices[0]?.message).toContain('It is tried again, and no checkpoint overwrites it.')
  isFull = false
  emulator.timers.fire()
  expect([texts(emulator.sandbox).a, said(emulator)]).toEqual(['edited', ['edit_refused', 'edit_taken']])
})

test('an edit that was taken is in the sandbox after a kill, even if no checkpoint followed', async () => {
  let isFull = false
  const files: Files = {
    ...nodeFiles,
    open: (path, how) => {
      if (isFull && how === 'wx') throw new Error('ENOSPC')
      return nodeFiles.open(path, how)
    },
  }
  const emulator = await opened({ files })
  const buffer = editedText(emulator)
  poll(emulator)
  emulator.save(buffer)
  isFull = true
  expect(() => emulator.persistence.checkpointNow()).toThrow('ENOSPC')
  const edited = await openedAgain(killed(emulator.file), { files })
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
    emulator.edit((document) => document.collections.notes.push({ id: `edit-${n}`, text: 'by hand' }))
    emulator.persistence.checkpointNow()
  }
  expect(Object.keys(texts(emulator.sandbox))).toHaveLength(63)
  expect(new Set(said(emulator))).toEqual(new Set(['edit_taken']))
})
