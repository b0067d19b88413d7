import fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import {
  folder,
  type OpenOptions,
  open,
  put,
  START,
  startingState,
  texts,
} from '../../../test/support/disk-emulator.ts'
import { fillingDisk } from '../../../test/support/filling-disk.ts'
import { killed, opened, said, stateFile } from '../../../test/support/state-files.ts'
import { rememberResponse } from '../../core/request/idempotency.ts'
import { change } from '../../core/sandboxes/change.ts'

async function started(options: OpenOptions = {}) {
  const file = stateFile()
  return { file, ...(await opened(file, options)) }
}

function filesBeside(file: string): string[] {
  return fs.readdirSync(join(file, '..')).sort()
}

test('a new sandbox is saved before it is used, in files that only the owner can read', async () => {
  const { file, found } = await started({ start: { a: 'one' } })
  expect(found).toBe(false)
  expect(JSON.parse(fs.readFileSync(file, 'utf8')).collections.notes).toEqual([{ id: 'a', text: 'one' }])
  expect(fs.statSync(join(file, '..')).mode & 0o777).toBe(0o700)
  for (const name of fs.readdirSync(join(file, '..'))) {
    expect([name, fs.statSync(join(file, '..', name)).mode & 0o777]).toEqual([name, 0o600])
  }
})

test('D1 every commit survives a kill before any checkpoint', async () => {
  const { file, sandbox } = await started({ start: { a: 'one' } })
  put(sandbox, 'b', 'two')
  put(sandbox, 'a', undefined)
  put(sandbox, '__proto__', 'three', { meta: JSON.parse('{"__proto__": {"x": 1}, "constructor": null}') })
  put(sandbox, 'b', 'four')
  const again = await opened(killed(file))
  expect(again.sandbox.document()).toEqual(sandbox.document())
  expect(Object.hasOwn(again.sandbox.store.get('notes', '__proto__') as object, 'meta')).toBe(true)
  expect(({} as { x?: unknown }).x).toBeUndefined()
  expect(said(again)).toEqual([])
})

test('a response and its record survive a kill together', { tags: ['R280', 'R278'] }, async () => {
  const { file, sandbox } = await started()
  change(sandbox, ({ tx, now }) => {
    rememberResponse(tx, { id: 'k', fingerprint: 'f', status: 200, body: { id: 'x' } }, now)
    tx.put('notes', { id: 'x', text: 'made' } as never)
  })
  const again = await opened(killed(file))
  expect(again.sandbox.document().idempotency).toEqual(sandbox.document().idempotency)
  expect(again.sandbox.document().idempotency).toMatchObject([{ expires_at: '2026-03-02T12:00:00.000Z' }])
})

test('ids that were assigned before a kill are not assigned again', { tags: ['R012'] }, async () => {
  const { file, sandbox } = await started()
  const nextId = (of: typeof sandbox): string => change(of, ({ newId }) => newId()).result
  const before = Array.from({ length: 3 }, () => nextId(sandbox))
  const { sandbox: again } = await opened(killed(file))
  const after = Array.from({ length: 3 }, () => nextId(again))
  expect(new Set([...before, ...after]).size).toBe(6)
})

test('after a kill the clock continues at the last commit, or at the reset after a checkpoint', async () => {
  const { file, sandbox, persistence } = await started({ start: { a: 'one' } })
  sandbox.clock.moveTo(START + 5000)
  put(sandbox, 'a', 'two')
  expect((await opened(killed(file))).sandbox.clock.now).toBe(START + 5000)
  persistence.checkpointNow()
  sandbox.replaceWith(await startingState({ a: 'fresh' }))
  const again = await opened(killed(file))
  expect([again.sandbox.clock.now, texts(again.sandbox)]).toEqual([START, { a: 'fresh' }])
})

test('a large state that replaces another is one line of the journal, and survives a kill', async () => {
  const many = (word: string) =>
    Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`${word}${n}`, word]))
  const { file, sandbox } = await started({ start: many('old') })
  for (const next of [many('new'), { a: 'small' }]) {
    const size = fs.statSync(`${file}.journal`).size
    sandbox.replaceWith(await startingState(next))
    put(sandbox, 'later', 'there')
    // The journal does not list the removals of two thousand notes one by one.
    if ('a' in next) expect(fs.statSync(`${file}.journal`).size - size).toBeLessThan(1_000)
    const again = await opened(killed(file))
    expect(texts(again.sandbox)).toEqual({ ...next, later: 'there' })
    expect([again.sandbox.store.revision, said(again)]).toEqual([sandbox.store.revision, []])
  }
})

test('after a checkpoint, which comes soon, the journal is empty and the file has everything', async () => {
  const { file, sandbox, timers } = await started()
  for (let n = 0; n < 20; n++) put(sandbox, `n${n}`, 'x'.repeat(1000))
  expect(fs.statSync(`${file}.journal`).size).toBeGreaterThan(20_000)
  expect(timers.waiting).toHaveLength(2)
  timers.fire()
  expect(fs.statSync(`${file}.journal`).size).toBeLessThan(1000)
  expect(filesBeside(file)).toEqual(['sandbox.json', 'sandbox.json.journal'])
  const document = { ...JSON.parse(JSON.stringify(sandbox.document())), wakes_at: null }
  expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual(document)
})

test('closing writes a checkpoint', async () => {
  const file = stateFile()
  const { sandbox, persistence } = await open(file)
  put(sandbox, 'a', 'last')
  persistence.close()
  expect(fs.readFileSync(file, 'utf8')).toContain('"text": "last"')
  expect(filesBeside(file)).toEqual(['sandbox.json', 'sandbox.json.journal'])
  expect(() => put(sandbox, 'b', 'too late')).toThrow('the state file is closed')
})

test('a failed start does not block the file for the next one', async () => {
  const file = stateFile()
  await expect(open(file, { files: fillingDisk('write', true).files })).rejects.toThrow('ENOSPC')
  expect((await opened(file)).found).toBe(false)
})

test('a symbolic link is followed once and stays a link', async () => {
  const directory = folder(onTestFinished)
  const [link, target] = [join(directory, 'link.json'), join(directory, 'elsewhere', 'target.json')]
  fs.symlinkSync(target, link)
  const { persistence, sandbox } = await opened(link)
  put(sandbox, 'a', 'one')
  persistence.checkpointNow()
  expect(persistence.file).toBe(target)
  expect(fs.readFileSync(link, 'utf8')).toContain('"text": "one"')
  expect(fs.readdirSync(directory).sort()).toEqual(['elsewhere', 'link.json'])
})

test('while checkpoints fail, commits are written to the journal and survive a kill', async () => {
  const disk = fillingDisk('create')
  const { file, ...first } = await started({ files: disk.files })
  disk.isFull = true
  for (const id of ['a', 'b', 'c']) {
    put(first.sandbox, id, id)
    expect(() => first.persistence.checkpointNow()).toThrow('ENOSPC')
  }
  expect(first.notices).toMatchObject([{ event: 'checkpoint_failed', level: 'error' }])
  expect(filesBeside(file)).toEqual(['sandbox.json', 'sandbox.json.journal'])
  const again = await opened(killed(file))
  expect(texts(again.sandbox)).toEqual({ a: 'a', b: 'b', c: 'c' })
  disk.isFull = false
  first.persistence.checkpointNow()
  expect(said(first)).toEqual(['checkpoint_failed', 'checkpoint_recovered'])
})

test('a commit as large as the largest batch is logged and read back', async () => {
  const { file, sandbox } = await started()
  const large = 'ä'.repeat(20 * 1024 * 1024)
  put(sandbox, 'a', large)
  const again = await opened(killed(file))
  expect(texts(again.sandbox).a === large).toBe(true)
})

test('rate limits and the request count survive a clean exit; after a kill they are from the last checkpoint', async () => {
  const { file, sandbox, persistence } = await started()
  const limit = { limit: 5, window: 60_000 }
  const use = (times: number): void => {
    for (let n = 0; n < times; n++) {
      sandbox.limits.windows.admit('ts-a pages.create', limit, START)
      sandbox.log.count('default')
    }
  }
  use(2)
  persistence.checkpointNow()
  use(2)
  put(sandbox, 'b', 'acknowledged')
  const killedThen = await opened(killed(file))
  expect(texts(killedThen.sandbox)).toEqual({ b: 'acknowledged' })
  expect(killedThen.sandbox.limits.windows.save()[0]?.hits).toEqual([START, START])
  expect(killedThen.sandbox.log.requests).toBe(2)
  persistence.close()
  const closedThen = await opened(file)
  expect(closedThen.sandbox.limits.windows.save()).toEqual(sandbox.limits.windows.save())
  expect(closedThen.sandbox.log.requests).toBe(4)
})

test.each([
  ['removed', (journal: string) => fs.rmSync(journal)],
  ['truncated', (journal: string) => fs.truncateSync(journal, 10)],
  [
    'replaced by a copy',
    (journal: string) => {
      fs.copyFileSync(journal, `${journal}~`)
      fs.renameSync(`${journal}~`, journal)
    },
  ],
  ['removed with its folder', (journal: string) => fs.rmSync(join(journal, '..'), { recursive: true })],
])('a journal that another program has %s is written again with everything', async (_, lose) => {
  const { file, sandbox, notices } = await started({ start: { a: 'one' } })
  put(sandbox, 'b', 'two')
  await nextTurn()
  lose(`${file}.journal`)
  put(sandbox, 'c', 'three')
  put(sandbox, 'd', 'four')
  expect(notices.map(({ event }) => event)).toEqual(['journal_lost'])
  const again = await opened(killed(file))
  expect([texts(again.sandbox), said(again)]).toEqual([{ a: 'one', b: 'two', c: 'three', d: 'four' }, []])
})

test('writes after a lost journal are refused while the file cannot be written', async () => {
  const disk = fillingDisk('create')
  const { file, sandbox } = await started({ files: disk.files })
  put(sandbox, 'a', 'one')
  await nextTurn()
  fs.rmSync(`${file}.journal`)
  disk.isFull = true
  for (const id of ['b', 'c']) expect(() => put(sandbox, id, 'refused')).toThrow('ENOSPC')
  disk.isFull = false
  put(sandbox, 'd', 'four')
  expect(texts((await opened(killed(file))).sandbox)).toEqual({ a: 'one', d: 'four' })
})

test('a sandbox without changes since its last checkpoint is closed without another one', async () => {
  const file = stateFile()
  const { sandbox, persistence } = await open(file, { start: { a: 'one' } })
  put(sandbox, 'a', 'two')
  persistence.checkpointNow()
  const { ino } = fs.statSync(file)
  persistence.close()
  expect(fs.statSync(file).ino).toBe(ino)
})
