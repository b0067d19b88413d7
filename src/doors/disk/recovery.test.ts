import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { open, put, START, texts } from '../../../test/support/disk-world.ts'
import { killed, opened, said, stateFile } from '../../../test/support/state-files.ts'
import { encodeLine } from './log-format.ts'

test('a hand edit while stopped is simply what the file says', async () => {
  const file = stateFile()
  const first = await open(file, { start: { a: 'one' } })
  put(first.sandbox, 'b', 'two')
  await first.persistence.close()
  writeFileSync(file, readFileSync(file, 'utf8').replace('"two"', '"edited"'))
  const again = await opened(file)
  expect(texts(again.sandbox)).toEqual({ a: 'one', b: 'edited' })
  expect(said(again)).toEqual(['edited_while_stopped'])
  put(again.sandbox, 'c', 'three')
  const third = await opened(killed(file))
  expect([texts(third.sandbox), said(third)]).toEqual([{ a: 'one', b: 'edited', c: 'three' }, []])
})

test('an edited file under a log that it lacks is in force, and the log is kept', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'only in the log')
  const copy = killed(file)
  writeFileSync(copy, readFileSync(copy, 'utf8').replace('"one"', '"edited"'))
  const again = await opened(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'edited' })
  expect(again.notices).toMatchObject([
    { event: 'log_orphaned', level: 'error', kept: `${copy}.log.orphaned-1` },
  ])
  expect(readFileSync(`${copy}.log.orphaned-1`, 'utf8')).toContain('only in the log')
})

test.each([
  ['whose first line is damaged', 20, 'byte 0: a damaged line begins here. So it cannot'],
  ['that is empty', 0, 'byte 0: the log has no header. So it cannot'],
])('D6 a log %s is kept, the place is named, and no edit is blamed for it', async (_, size, expected) => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'only in the log')
  const copy = killed(file)
  const log = readFileSync(`${copy}.log`)
  const damaged = size === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.alloc(size), log.subarray(size)])
  writeFileSync(`${copy}.log`, damaged)
  const again = await opened(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'one' })
  expect(again.notices).toMatchObject([{ event: 'log_orphaned', kept: `${copy}.log.orphaned-1` }])
  expect(again.notices[0]?.message).toContain(`${copy}.log, ${expected}`)
  expect(readFileSync(`${copy}.log.orphaned-1`)).toEqual(damaged)
})

test('a missing file starts the world anew, and its log is kept', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'only in the log')
  const copy = killed(file)
  rmSync(copy)
  const again = await opened(copy, { start: { a: 'fresh' } })
  expect([again.found, texts(again.sandbox)]).toEqual([false, { a: 'fresh' }])
  expect(said(again)).toEqual(['log_orphaned'])
})

test('D6 a file that is no JSON is moved aside with its log, and the emulator starts', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  put(sandbox, 'b', 'two')
  const copy = killed(file)
  const good = readFileSync(copy)
  writeFileSync(copy, good.subarray(0, 100))
  const again = await open(copy, { start: { a: 'fresh' } })
  expect([again.found, texts(again.sandbox)]).toEqual([false, { a: 'fresh' }])
  expect(again.notices).toMatchObject([{ event: 'file_corrupt', level: 'error', kept: `${copy}.corrupt-1` }])
  expect(again.notices[0]?.message).toMatch(/world\.json:\d+:\d+: .*the text ends/)
  await again.persistence.close()
  // The way back that the message names.
  writeFileSync(`${copy}.corrupt-1`, good)
  renameSync(`${copy}.corrupt-1`, copy)
  renameSync(`${copy}.corrupt-1.log`, `${copy}.log`)
  const back = await opened(copy)
  expect(texts(back.sandbox)).toEqual({ a: 'one', b: 'two' })
})

test('a file that is no state is moved aside, with the line of what is wrong', async () => {
  const file = stateFile()
  await (await open(file, { start: { a: 'one' } })).persistence.close()
  writeFileSync(file, readFileSync(file, 'utf8').replace('"text": "one"', '"txet": "one"'))
  const again = await opened(file)
  const line =
    readFileSync(`${file}.corrupt-1`, 'utf8')
      .split('\n')
      .findIndex((each) => each.includes('txet')) + 1
  expect(again.found).toBe(false)
  expect(again.notices[0]?.message).toContain(
    `${file}:${line}: /collections/notes/0/txet: is not a known member`,
  )
})

test.each(['null', '0', '""', '[]', '{}'])('a file that says %s is no state', async (text) => {
  const file = stateFile()
  mkdirSync(join(file, '..'))
  writeFileSync(file, text)
  const again = await opened(file)
  expect([again.found, said(again)]).toEqual([false, ['file_corrupt']])
  expect(readFileSync(`${file}.corrupt-1`, 'utf8')).toBe(text)
})

test.each([
  ['the file', 'world.json', '"format": 1', '"format": 2'],
  ['the log', 'world.json.log', '', ''],
])('a newer format of %s is refused and nothing is touched', async (_, name, from, to) => {
  const file = stateFile()
  await (await open(file)).persistence.close()
  const path = join(file, '..', name)
  if (from === '') {
    writeFileSync(path, encodeLine({ log: 2, revision: 0, base: null }))
  } else writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
  const before = readdirSync(join(file, '..')).map((each) => [
    each,
    readFileSync(join(file, '..', each), 'utf8'),
  ])
  await expect(open(file)).rejects.toThrow(
    `${path} has the format 2; this version reads 1. Upgrade the emulator`,
  )
  expect(
    readdirSync(join(file, '..')).map((each) => [each, readFileSync(join(file, '..', each), 'utf8')]),
  ).toEqual(before)
})

test('D6 half a last line is cut off and said', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  put(sandbox, 'a', 'whole')
  const copy = killed(file)
  const whole = readFileSync(`${copy}.log`)
  appendFileSync(`${copy}.log`, whole.subarray(0, 30))
  const again = await opened(copy)
  expect([texts(again.sandbox), said(again)]).toEqual([{ a: 'whole' }, ['log_torn']])
  const generation = readdirSync(join(copy, '..')).find((name) => name.endsWith('.log.1')) as string
  expect(readFileSync(join(copy, '..', generation))).toEqual(whole)
})

test('D6 a damaged log is followed to the damage; a copy of all of it is kept', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  for (const id of ['a', 'b', 'c']) put(sandbox, id, `text of ${id}`)
  const copy = killed(file)
  const bytes = readFileSync(`${copy}.log`)
  const at = bytes.indexOf('text of b')
  bytes[at] = 0x54
  writeFileSync(`${copy}.log`, bytes)
  const again = await open(copy)
  expect(texts(again.sandbox)).toEqual({ a: 'text of a' })
  const start = bytes.lastIndexOf('\n', at) + 1
  expect(again.notices).toMatchObject([
    { event: 'log_corrupt', level: 'error', kept: `${copy}.log.corrupt-1` },
  ])
  expect(again.notices[0]?.message).toContain(`${copy}.log, byte ${start}: a damaged line begins here.`)
  expect(readFileSync(`${copy}.log.corrupt-1`)).toEqual(bytes)
  put(again.sandbox, 'd', 'later')
  await again.persistence.close()
  const third = await opened(copy)
  expect([texts(third.sandbox), said(third)]).toEqual([{ a: 'text of a', d: 'later' }, []])
})

test('D6 a commit that does not fit ends the replay, and nothing of it is in the world', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  put(sandbox, 'a', 'fits')
  const copy = killed(file)
  const revision = sandbox.store.revision + 1
  const changes = [
    ['put', 'notes', { id: 'b', text: 'half' }] as const,
    ['patch', 'notes', 'nobody', []] as const,
  ]
  appendFileSync(`${copy}.log`, encodeLine({ revision, at: new Date(START).toISOString(), changes }))
  const again = await opened(copy)
  expect([texts(again.sandbox), said(again)]).toEqual([{ a: 'fits' }, ['log_corrupt']])
  expect(again.notices[0]?.message).toContain(
    'the log changes notes/nobody, which does not exist at that point',
  )
})
