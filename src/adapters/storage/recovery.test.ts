import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { open, put, START, texts } from '../../../test/support/disk-emulator.ts'
import { killed, opened, said, stateFile } from '../../../test/support/state-files.ts'
import { encodeLine } from './journal-format.ts'

/** The files of a killed process: a state file with one note, and a journal with three more. */
async function afterKill(): Promise<string> {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  for (const id of ['b', 'c', 'd']) put(sandbox, id, `text of ${id}`)
  return killed(file)
}

function filesIn(file: string): string[][] {
  const folder = join(file, '..')
  return fs.readdirSync(folder).map((name) => [name, fs.readFileSync(join(folder, name), 'latin1')])
}

function replaceIn(path: string, from: string, to: string): void {
  const text = fs.readFileSync(path, 'latin1')
  expect(text).toContain(from)
  fs.writeFileSync(path, text.replace(from, to), 'latin1')
}

const OF_FILE = /Fix the file, or move it away and start with --discard-journal/
const WHOLE = { a: 'one', b: 'text of b', c: 'text of c', d: 'text of d' }

/** Files that stop the start, the message, and the notes after a start with --discard-journal; null: it is stopped, too. */
const DAMAGES: readonly (readonly [string, (file: string) => void, RegExp, discarded?: object | null])[] = [
  [
    'a state file that is cut',
    (file) => fs.writeFileSync(file, fs.readFileSync(file).subarray(0, 100)),
    /with --discard-journal to use the present file/,
    null,
  ],
  [
    'a state file that was edited after a kill',
    (file) => replaceIn(file, '"one"', '"edited"'),
    /sandbox\.json was edited or replaced, but its journal, .*\.journal, has 3 changes .* Put the earlier content back to keep them, or start with --discard-journal to use the present file without them\.$/,
    { a: 'edited' },
  ],
  [
    'a missing state file',
    (file) => fs.rmSync(file),
    /sandbox\.json is missing, but its journal, .*, has 3 changes .* Put the file back, or start with --discard-journal/,
    { fresh: 'new' },
  ],
  [
    'a journal with a damaged line in the middle',
    (file) => replaceIn(`${file}.journal`, 'text of c', 'Text of c'),
    /journal, byte \d+: a damaged line begins here\. Nothing has been changed\. To keep the change before it, cut the journal there: truncate -s \d+ ".*\.journal"\. To use .*sandbox\.json without its journal, start with --discard-journal\.$/,
  ],
  [
    'a journal whose first line is damaged',
    (file) => replaceIn(`${file}.journal`, '"journal"', '"Journal"'),
    /journal, byte 0: a damaged line begins here/,
  ],
  [
    'an empty journal',
    (file) => fs.writeFileSync(`${file}.journal`, ''),
    /journal, byte 0: it has no complete first line/,
  ],
  [
    'a journal of another format',
    (file) => fs.writeFileSync(`${file}.journal`, encodeLine({ journal: 4, file: null, revision: 0 })),
    /journal, byte 0: its format is 4; this version reads 3/,
  ],
  [
    'a journal that lacks a line',
    (file) => {
      const lines = fs.readFileSync(`${file}.journal`, 'utf8').split('\n')
      fs.writeFileSync(`${file}.journal`, lines.filter((line) => !line.includes('text of c')).join('\n'))
    },
    /journal, byte \d+: commits before it are missing/,
  ],
  [
    'a journal with a change that does not fit',
    (file) => {
      const changes = [['patch', 'notes', 'nobody', []] as const]
      const line = encodeLine({ revision: 4, at: new Date(START).toISOString(), changes })
      fs.appendFileSync(`${file}.journal`, line)
    },
    /byte \d+: the journal changes notes\/nobody, which does not exist at that point.* To keep the 3 changes before it/,
  ],
]

test.for(DAMAGES)(
  'D6 %s stops the start, unchanged',
  async ([, damage, message, discarded = { a: 'one' }]) => {
    const file = await afterKill()
    damage(file)
    const before = filesIn(file)
    await expect(open(file, { start: { fresh: 'new' } })).rejects.toThrow(message)
    expect(filesIn(file)).toEqual(before)
    if (discarded === null) {
      await expect(open(file, { discardJournal: true })).rejects.toThrow(OF_FILE)
      expect(filesIn(file)).toEqual(before)
      return
    }
    const again = await opened(file, { discardJournal: true, start: { fresh: 'new' } })
    expect([texts(again.sandbox), said(again)]).toEqual([discarded, ['journal_discarded']])
    put(again.sandbox, 'z', 'later')
    expect(texts((await opened(killed(file))).sandbox)).toEqual({ ...discarded, z: 'later' })
  },
)

test('the ways out of a damaged journal and of an edited file keep what they promise', async () => {
  const damaged = await afterKill()
  replaceIn(`${damaged}.journal`, 'text of d', 'Text of d')
  const message = await open(damaged).then(String, String)
  execFileSync('sh', ['-c', /truncate -s \d+ "[^"]+"/.exec(message)?.[0] ?? ''])
  expect(texts((await opened(damaged)).sandbox)).toEqual({ a: 'one', b: 'text of b', c: 'text of c' })
  const edited = await afterKill()
  fs.copyFileSync(edited, `${edited}~`)
  replaceIn(edited, '"one"', '"edited"')
  await expect(open(edited)).rejects.toThrow('Put the earlier content back')
  fs.renameSync(`${edited}~`, edited)
  expect(texts((await opened(edited)).sandbox)).toEqual(WHOLE)
})

test('--discard-journal keeps a journal that continues its file', async () => {
  const again = await opened(await afterKill(), { discardJournal: true })
  expect([texts(again.sandbox), said(again)]).toEqual([WHOLE, []])
})

/** State files that stop the start after a clean exit, with the place and the reason. */
const FILES: readonly (readonly [string, (text: string) => string, RegExp])[] = [
  ['that is cut', (text) => text.slice(0, 100), /sandbox\.json:\d+:\d+: .*the text ends/],
  ['that is empty', () => '', /sandbox\.json:1:1: expected a value, but the text ends/],
  ['that is not UTF-8', (text) => `${text}\xff`, /sandbox\.json: has bytes in line \d+ that are not UTF-8/],
  ['that is null', () => 'null', /sandbox\.json:1: \/: must be a JSON object/],
  ['that is a list', () => '[]', /sandbox\.json:1: \/: must be a JSON object/],
  ['of another kind', () => '{"name": "x"}', /sandbox\.json:1: \/revision: is required; .* and 6 more\./],
  ['of format 1', (text) => text.replace('"format": 2', '"format": 1'), /json:2: its format is 1; this ver/],
  [
    'with an invalid record',
    (text) => text.replace('"text": "one"', '"txet": "one"'),
    /sandbox\.json:2\d: \/collections\/notes\/0\/txet: is not a known field/,
  ],
  [
    'with a reference to a missing record',
    (text) => text.replace('"text": "one"', '"text": "one", "parent_id": "nobody"'),
    /sandbox\.json:2\d: \/collections\/notes\/0\/parent_id: There is no note "nobody"/,
  ],
]

test.each(FILES)('D10 a state file %s stops the start and is left untouched', async (_, damage, message) => {
  const file = stateFile()
  ;(await open(file, { start: { a: 'one' } })).persistence.close()
  fs.writeFileSync(file, damage(fs.readFileSync(file, 'latin1')), 'latin1')
  const before = filesIn(file)
  const failure = open(file)
  await expect(failure).rejects.toThrow(message)
  await expect(failure).rejects.toThrow(OF_FILE)
  expect(filesIn(file)).toEqual(before)
})

test('the way out of a file that is not valid starts from the starting state', async () => {
  const file = stateFile()
  fs.mkdirSync(join(file, '..'))
  fs.writeFileSync(file, 'x')
  const message = await open(file).then(String, String)
  execFileSync('sh', ['-c', /mv "[^"]+" "[^"]+"/.exec(message)?.[0] ?? ''])
  const again = await opened(file, { start: { a: 'fresh' }, discardJournal: true })
  expect([texts(again.sandbox), said(again)]).toEqual([{ a: 'fresh' }, []])
})

test('a file that was edited or replaced while the emulator was stopped is used', async () => {
  const file = stateFile()
  const first = await open(file, { start: { a: 'one' } })
  first.persistence.close()
  const backup = fs.readFileSync(file)
  replaceIn(file, '"one"', '"edited"')
  const second = await open(file)
  expect([texts(second.sandbox), said(second)]).toEqual([{ a: 'edited' }, []])
  put(second.sandbox, 'b', 'two')
  const afterwards = await opened(killed(file))
  expect(texts(afterwards.sandbox)).toEqual({ a: 'edited', b: 'two' })
  second.persistence.close()
  fs.writeFileSync(file, backup)
  const third = await open(file)
  expect(texts(third.sandbox)).toEqual({ a: 'one' })
  third.persistence.close()
  fs.rmSync(file)
  expect(texts((await opened(file, { start: { a: 'fresh' } })).sandbox)).toEqual({ a: 'fresh' })
})

test('D6 a torn last line is left out and reported', async () => {
  const file = await afterKill()
  fs.appendFileSync(`${file}.journal`, fs.readFileSync(`${file}.journal`).subarray(0, 30))
  const again = await opened(file)
  expect([texts(again.sandbox), said(again)]).toEqual([WHOLE, ['journal_torn']])
  put(again.sandbox, 'e', 'later')
  const third = await opened(killed(file))
  expect([texts(third.sandbox), said(third)]).toEqual([{ ...WHOLE, e: 'later' }, []])
})
