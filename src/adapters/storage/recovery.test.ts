import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { open, put, START, texts } from '../../../test/support/disk-emulator.ts'
import { killed, opened, said, stateFile } from '../../../test/support/state-files.ts'
import { encodeLine } from './journal-format.ts'

test('an edit while stopped is merged with the journal and applied once', async () => {
  const file = stateFile()
  const first = await open(file, { start: { a: 'one' } })
  put(first.sandbox, 'b', 'two')
  await first.persistence.close()
  writeFileSync(file, readFileSync(file, 'utf8').replace('"two"', '"edited"'))
  const again = await opened(file)
  expect(texts(again.sandbox)).toEqual({ a: 'one', b: 'edited' })
  expect(said(again)).toEqual(['edit_taken'])
  put(again.sandbox, 'c', 'three')
  put(again.sandbox, 'b', 'changed by the API')
  const third = await opened(killed(file))
  expect(texts(third.sandbox)).toEqual({ a: 'one', b: 'changed by the API', c: 'three' })
  expect(said(third)).toEqual([])
})

test('an edit after a kill keeps the commits that are only in the journal', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'only in the journal')
  const copy = killed(file)
  writeFileSync(copy, readFileSync(copy, 'utf8').replace('"one"', '"edited"'))
  const again = await opened(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'edited', b: 'only in the journal' })
  expect(said(again)).toEqual(['edit_taken'])
})

test('a foreign file that replaces the state file while stopped is used, and the replaced state is kept', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'only in the journal')
  const copy = killed(file)
  const document = JSON.parse(readFileSync(copy, 'utf8'))
  writeFileSync(
    copy,
    JSON.stringify({ ...document, revision: 999, collections: { notes: [{ id: 'z', text: 'elsewhere' }] } }),
  )
  const again = await open(copy)
  expect(texts(again.sandbox)).toEqual({ z: 'elsewhere' })
  expect(again.notices).toMatchObject([{ event: 'went_back', kept: `${copy}.replaced-1` }])
  await again.persistence.close()
  copyFileSync(`${copy}.replaced-1`, copy)
  const back = await opened(copy)
  expect(texts(back.sandbox)).toEqual({ a: 'one', b: 'only in the journal' })
})

test('an edited file without the previous checkpoint is used, and the journal is kept', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'only in the journal')
  const copy = killed(file)
  rmSync(`${copy}.previous`)
  writeFileSync(copy, readFileSync(copy, 'utf8').replace('"one"', '"edited"'))
  const again = await opened(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'edited' })
  expect(again.notices).toMatchObject([
    { event: 'journal_orphaned', level: 'error', kept: `${copy}.journal.orphaned-1` },
  ])
  expect(readFileSync(`${copy}.journal.orphaned-1`, 'utf8')).toContain('only in the journal')
})

test.each([
  ['whose first line is damaged', 20, 'byte 0: a damaged line begins here.'],
  ['that is empty', 0, 'byte 0: the journal has no header.'],
])('D6 a log %s is kept and reported with its place, not as an edit', async (_, size, expected) => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'only in the log')
  const copy = killed(file)
  const log = readFileSync(`${copy}.journal`)
  const damaged = size === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.alloc(size), log.subarray(size)])
  writeFileSync(`${copy}.journal`, damaged)
  const again = await opened(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'one' })
  expect(again.notices).toMatchObject([{ event: 'journal_corrupt', kept: `${copy}.journal.corrupt-1` }])
  expect(again.notices[0]?.message).toContain(`${copy}.journal, ${expected}`)
  expect(readFileSync(`${copy}.journal.corrupt-1`)).toEqual(damaged)
})

test('a missing file starts a new sandbox, and its journal is kept', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'only in the log')
  const copy = killed(file)
  rmSync(copy)
  const again = await opened(copy, { start: { a: 'fresh' } })
  expect([again.found, texts(again.sandbox)]).toEqual([false, { a: 'fresh' }])
  expect(said(again)).toEqual(['journal_orphaned'])
})

test.each([
  ['that is cut', (text: string) => text.slice(0, 100)],
  ['that is empty', () => ''],
  ['that is no object', () => '[]'],
])('D10 a file %s is restored from the previous checkpoint and the journal', async (_, damage) => {
  const file = stateFile()
  const { sandbox, persistence } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'two')
  await persistence.checkpointNow()
  put(sandbox, 'c', 'three')
  const copy = killed(file)
  const damaged = damage(readFileSync(copy, 'utf8'))
  writeFileSync(copy, damaged)
  const again = await open(copy)
  expect([again.found, texts(again.sandbox)]).toEqual([true, { a: 'one', b: 'two', c: 'three' }])
  expect(again.notices).toMatchObject([{ event: 'recovered', level: 'error', kept: `${copy}.corrupt-1` }])
  expect(again.persistence.report()).toEqual({
    set_aside: [],
    kept_in: 'sandbox.json.corrupt-1',
    recovered_from: 'sandbox.json.previous',
  })
  expect(readFileSync(`${copy}.corrupt-1`, 'utf8')).toBe(damaged)
  put(again.sandbox, 'd', 'four')
  const third = await opened(killed(copy))
  expect([Object.keys(texts(third.sandbox)), said(third)]).toEqual([['a', 'b', 'c', 'd'], []])
  await again.persistence.close()
  rmSync(`${copy}.corrupt-1`)
  expect(again.persistence.report()).toBeUndefined()
})

test('D6 a file that is not JSON, without previous checkpoint, is moved aside with its journal; the start succeeds', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'two')
  const copy = killed(file)
  const good = readFileSync(copy)
  writeFileSync(copy, good.subarray(0, 100))
  rmSync(`${copy}.previous`)
  const again = await open(copy, { start: { a: 'fresh' } })
  expect([again.found, texts(again.sandbox)]).toEqual([false, { a: 'fresh' }])
  expect(again.notices).toMatchObject([{ event: 'file_corrupt', level: 'error', kept: `${copy}.corrupt-1` }])
  expect(again.notices[0]?.message).toMatch(/sandbox\.json:\d+:\d+: .*the text ends/)
  await again.persistence.close()
  // These are the steps that the message describes.
  writeFileSync(`${copy}.corrupt-1`, good)
  renameSync(`${copy}.corrupt-1`, copy)
  renameSync(`${copy}.corrupt-1.journal`, `${copy}.journal`)
  const back = await opened(copy)
  expect(texts(back.sandbox)).toEqual({ a: 'one', b: 'two' })
})

test('D10 a file with one invalid record is used without it; the record is set aside and reported with its line', async () => {
  const file = stateFile()
  const first = await open(file, { start: { a: 'one', b: 'two' } })
  put(first.sandbox, 'c', 'three')
  await first.persistence.close()
  rmSync(`${file}.previous`)
  const text = readFileSync(file, 'utf8').replace('"text": "one"', '"txet": "one"')
  writeFileSync(file, text)
  const again = await opened(file)
  expect([again.found, texts(again.sandbox)]).toEqual([true, { b: 'two', c: 'three' }])
  const line = text.split('\n').findIndex((each) => each.includes('"id": "a"'))
  expect(again.notices).toMatchObject([
    { event: 'records_set_aside', level: 'error', line, kept: `${file}.invalid-1` },
  ])
  expect(again.notices[0]?.message).toContain(`${file}:${line}: /collections/notes/0: `)
  expect(JSON.parse(readFileSync(`${file}.invalid-1`, 'utf8'))).toEqual([
    {
      pointer: '/collections/notes/0',
      reason: expect.stringContaining('/txet: is not a known field'),
      record: { id: 'a', txet: 'one' },
    },
  ])
  expect(again.persistence.report()).toMatchObject({
    set_aside: [{ pointer: '/collections/notes/0' }],
    kept_in: 'sandbox.json.invalid-1',
    recovered_from: null,
  })
  const third = await opened(killed(file))
  expect([texts(third.sandbox), said(third)]).toEqual([{ b: 'two', c: 'three' }, []])
})

test('D10 an invalid record in a file that was edited while stopped keeps its earlier value', async () => {
  const file = stateFile()
  const first = await open(file, { start: { a: 'one', b: 'two' } })
  put(first.sandbox, 'c', 'three')
  await first.persistence.close()
  const text = readFileSync(file, 'utf8').replace('"text": "one"', '"text": 1').replace('"two"', '"edited"')
  writeFileSync(file, text)
  const again = await opened(file)
  expect(texts(again.sandbox)).toEqual({ a: 'one', b: 'edited', c: 'three' })
  expect(said(again)).toEqual(['records_set_aside', 'edit_taken'])
})

test.each(['null', '0', '""', '[]', '{}', '{"name": "x"}'])(
  'a file that contains %s is not a state document',
  async (text) => {
    const file = stateFile()
    mkdirSync(join(file, '..'))
    writeFileSync(file, text)
    const again = await opened(file)
    expect([again.found, said(again)]).toEqual([false, ['file_corrupt']])
    expect(readFileSync(`${file}.corrupt-1`, 'utf8')).toBe(text)
  },
)

test.each([
  ['the file', 'sandbox.json', '"format": 2', '"format": 3'],
  ['the journal', 'sandbox.json.journal', '', ''],
])('a newer format of %s is refused and no file is changed', async (_, name, from, to) => {
  const file = stateFile()
  await (await open(file)).persistence.close()
  const path = join(file, '..', name)
  if (from === '') {
    writeFileSync(path, encodeLine({ journal: 3, revision: 0, file: null }))
  } else writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
  const before = readdirSync(join(file, '..')).map((each) => [
    each,
    readFileSync(join(file, '..', each), 'utf8'),
  ])
  await expect(open(file)).rejects.toThrow(
    `${path} has the format 3; this version reads 2. Upgrade the emulator`,
  )
  expect(
    readdirSync(join(file, '..')).map((each) => [each, readFileSync(join(file, '..', each), 'utf8')]),
  ).toEqual(before)
})

test('D6 an incomplete last line is cut off and reported', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  put(sandbox, 'a', 'whole')
  const copy = killed(file)
  const whole = readFileSync(`${copy}.journal`)
  appendFileSync(`${copy}.journal`, whole.subarray(0, 30))
  const again = await opened(copy)
  expect([texts(again.sandbox), said(again)]).toEqual([{ a: 'whole' }, ['journal_torn']])
  expect(readFileSync(`${copy}.journal.0`)).toEqual(whole)
})

test('D6 a damaged journal is replayed up to the damage, and a copy of all of it is kept', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  for (const id of ['a', 'b', 'c']) put(sandbox, id, `text of ${id}`)
  const copy = killed(file)
  const bytes = readFileSync(`${copy}.journal`)
  const at = bytes.indexOf('text of b')
  bytes[at] = 0x54
  writeFileSync(`${copy}.journal`, bytes)
  const again = await open(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'text of a' })
  const start = bytes.lastIndexOf('\n', at) + 1
  expect(again.notices).toMatchObject([
    { event: 'journal_corrupt', level: 'error', kept: `${copy}.journal.corrupt-1` },
  ])
  expect(again.notices[0]?.message).toContain(`${copy}.journal, byte ${start}: a damaged line begins here.`)
  expect(readFileSync(`${copy}.journal.corrupt-1`)).toEqual(bytes)
  put(again.sandbox, 'd', 'later')
  await again.persistence.close()
  const third = await opened(copy)
  expect([texts(third.sandbox), said(third)]).toEqual([{ a: 'text of a', d: 'later' }, []])
})

test('D6 a commit that does not fit ends the replay, and no part of it is in the sandbox', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  put(sandbox, 'a', 'fits')
  const copy = killed(file)
  const revision = sandbox.store.revision + 1
  const changes = [
    ['put', 'notes', { id: 'b', text: 'half' }] as const,
    ['patch', 'notes', 'nobody', []] as const,
  ]
  appendFileSync(`${copy}.journal`, encodeLine({ revision, at: new Date(START).toISOString(), changes }))
  const again = await opened(copy)
  expect([texts(again.sandbox), said(again)]).toEqual([{ a: 'fits' }, ['journal_corrupt']])
  expect(again.notices[0]?.message).toContain(
    'the journal changes notes/nobody, which does not exist at that point',
  )
})
