import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { folder, open, put, START, startingWorld, texts } from '../../../test/support/disk-world.ts'
import { killed, opened, said, stateFile } from '../../../test/support/state-files.ts'
import { rememberAnswer } from '../../kernel/request/idempotency.ts'
import { SETTINGS, WORLD } from '../../kernel/state/state.ts'
import { advanceTo } from '../../kernel/time/settle.ts'
import { type Files, nodeFiles } from './files.ts'

test('a new world stands in its file before anything else happens, readable only by its owner', async () => {
  const file = stateFile()
  const { found } = await opened(file, { start: { a: 'one' } })
  expect(found).toBe(false)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    format: 1,
    collections: { notes: [{ id: 'a', text: 'one' }] },
  })
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
  for (const name of readdirSync(join(file, '..'))) {
    expect([name, statSync(join(file, '..', name)).mode & 0o777]).toEqual([name, 0o600])
  }
})

test('D1 every commit is there after a kill, before any checkpoint', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
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

test('R280 an acknowledged answer and its idempotency record come back together, R278 and expire as they would have', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  sandbox.change(({ tx, now }) => {
    rememberAnswer(tx, { id: 'k', fingerprint: 'f', status: 200, body: { id: 'x' } }, now)
    tx.put('notes', { id: 'x', text: 'made' } as never)
  })
  const again = await opened(killed(file))
  expect(again.sandbox.document().idempotency).toEqual(sandbox.document().idempotency)
  expect(again.sandbox.document().idempotency).toMatchObject([{ expires_at: '2026-03-02T12:00:00.000Z' }])
})

test('R012 ids that were given out before a kill are not given out again', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  const nextId = (of: typeof sandbox): string => of.change(({ newId }) => newId()).result
  const before = Array.from({ length: 3 }, () => nextId(sandbox))
  const { sandbox: again } = await opened(killed(file))
  const after = Array.from({ length: 3 }, () => nextId(again))
  expect(new Set([...before, ...after]).size).toBe(6)
})

test('events that were scheduled before a kill run after it', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'quiet' } })
  sandbox.change(({ schedule, now }) =>
    schedule({ kind: 'shout', ref: 'notes/a', due: now + 60_000, urgency: 'work', says: 'shout' }),
  )
  const again = await opened(killed(file))
  advanceTo(again.sandbox, START + 60_000)
  expect(texts(again.sandbox)).toEqual({ a: 'QUIET' })
})

test('the clock does not fall behind the last commit, and after a reset it does not jump ahead of it', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one' } })
  sandbox.clock.moveTo(START + 5000)
  put(sandbox, 'a', 'two')
  expect((await opened(killed(file))).sandbox.clock.now).toBe(START + 5000)
  const { persistence } = await opened(killed(file))
  await persistence.checkpointNow()
  sandbox.become(await startingWorld({ a: 'fresh' }))
  const again = await opened(killed(file))
  expect([again.sandbox.clock.now, texts(again.sandbox)]).toEqual([START, { a: 'fresh' }])
})

test('a clock that was set back by a reset after a checkpoint stays set back', async () => {
  const file = stateFile()
  const { sandbox, persistence } = await opened(file, { start: { a: 'one' } })
  sandbox.clock.moveTo(START + 5000)
  put(sandbox, 'a', 'two')
  await persistence.checkpointNow()
  sandbox.become(await startingWorld({ a: 'one' }))
  const again = await opened(killed(file))
  expect([again.sandbox.clock.now, texts(again.sandbox)]).toEqual([START, { a: 'one' }])
})

test('after a checkpoint the log is empty and the file has everything', async () => {
  const file = stateFile()
  const { sandbox, persistence } = await opened(file)
  for (let n = 0; n < 20; n++) put(sandbox, `n${n}`, 'x'.repeat(1000))
  expect(statSync(`${file}.log`).size).toBeGreaterThan(20_000)
  await persistence.checkpointNow()
  expect(statSync(`${file}.log`).size).toBeLessThan(1000)
  expect(readdirSync(join(file, '..')).sort()).toEqual(['world.json', 'world.json.lock', 'world.json.log'])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(sandbox.document())))
})

test('commits soon make a checkpoint by themselves', async () => {
  const file = stateFile()
  const { sandbox, timers } = await opened(file)
  put(sandbox, 'a', 'one')
  expect(timers.waiting).toHaveLength(1)
  timers.fire()
  await expect.poll(() => readFileSync(file, 'utf8')).toContain('"text": "one"')
})

test('commits during a checkpoint are in the log that the new file stands on', async () => {
  const file = stateFile()
  const { sandbox, persistence } = await opened(file)
  for (let n = 0; n < 300; n++) put(sandbox, `n${n}`, 'x'.repeat(1000))
  const checkpoint = persistence.checkpointNow()
  let during = 0
  for (let over = false; !over; during++) {
    put(sandbox, `d${during}`, 'meanwhile')
    over = await Promise.race([
      checkpoint.then(() => true),
      new Promise<boolean>((next) => setImmediate(next, false)),
    ])
  }
  expect(during).toBeGreaterThan(2)
  const stated = JSON.parse(readFileSync(file, 'utf8')).revision
  expect(stated).toBeLessThan(sandbox.store.revision)
  const again = await opened(killed(file))
  expect(again.sandbox.document()).toEqual(sandbox.document())
})

test('closing writes a checkpoint, and leaves no lock', async () => {
  const file = stateFile()
  const { sandbox, persistence } = await open(file)
  put(sandbox, 'a', 'last')
  await persistence.close()
  expect(readFileSync(file, 'utf8')).toContain('"text": "last"')
  expect(readdirSync(join(file, '..')).sort()).toEqual(['world.json', 'world.json.log'])
  expect(() => put(sandbox, 'b', 'too late')).toThrow('the state file is closed')
})

test('D3 a lock that cannot be removed is said, and closing ends in order', async () => {
  let fails = false
  const files: Files = {
    ...nodeFiles,
    remove: (path) => {
      if (fails && path.endsWith('.lock')) throw Object.assign(new Error('EIO: remove'), { code: 'EIO' })
      return nodeFiles.remove(path)
    },
  }
  const file = stateFile()
  const world = await opened(file, { files })
  fails = true
  await world.persistence.close()
  expect(said(world)).toEqual(['lock_left'])
  expect(world.notices[0]?.message).toContain(`EIO: remove. It opens when this process ends; to use the file`)
  fails = false
})

test('a second process is refused while the first one runs', async () => {
  const file = stateFile()
  await opened(file)
  await expect(open(file)).rejects.toThrow(`in use by process ${process.pid}`)
})

test('a failed start lets the file go', async () => {
  const file = stateFile()
  const full: Files = { ...nodeFiles, writeSoon: () => Promise.reject(new Error('ENOSPC')) }
  await expect(open(file, { files: full })).rejects.toThrow('ENOSPC')
  expect((await opened(file)).found).toBe(false)
})

test('a symbolic link is followed once and stays a link', async () => {
  const directory = folder(onTestFinished)
  const [link, target] = [join(directory, 'link.json'), join(directory, 'elsewhere', 'target.json')]
  symlinkSync(target, link)
  const { persistence, sandbox } = await opened(link)
  put(sandbox, 'a', 'one')
  await persistence.checkpointNow()
  expect(persistence.file).toBe(target)
  expect(readFileSync(link, 'utf8')).toContain('"text": "one"')
  expect(readdirSync(directory).sort()).toEqual(['elsewhere', 'link.json'])
})

test('what a crash has left half written is removed', async () => {
  const file = stateFile()
  await (await open(file)).persistence.close()
  for (const name of ['.1-2-3.tmp', '.log.1-2-3.tmp', '.lock.1-2-3.tmp']) writeFileSync(file + name, 'half')
  await opened(file)
  expect(readdirSync(join(file, '..')).sort()).toEqual(['world.json', 'world.json.lock', 'world.json.log'])
})

test('when checkpoints fail, writing goes on into the log and everything is there after a kill', async () => {
  const file = stateFile()
  let full = false
  const files: Files = {
    ...nodeFiles,
    writeSoon: (...args) =>
      full ? Promise.reject(new Error('ENOSPC: no space')) : nodeFiles.writeSoon(...args),
  }
  const first = await opened(file, { files })
  full = true
  for (const id of ['a', 'b', 'c']) {
    put(first.sandbox, id, id)
    await expect(first.persistence.checkpointNow()).rejects.toThrow('ENOSPC')
  }
  expect(first.notices).toMatchObject([{ event: 'checkpoint_failed', level: 'error' }])
  expect(
    readdirSync(join(file, '..'))
      .filter((name) => name.includes('.log'))
      .sort(),
  ).toEqual(['world.json.log', 'world.json.log.1'])
  const again = await opened(killed(file))
  expect(texts(again.sandbox)).toEqual({ a: 'a', b: 'b', c: 'c' })
  full = false
  await first.persistence.checkpointNow()
  expect(said(first)).toEqual(['checkpoint_failed', 'checkpoint_recovered'])
  expect(existsSync(`${file}.log.1`)).toBe(false)
})

test('with durability power, an answer waits until the disk has it, also across a checkpoint', async () => {
  const file = stateFile()
  const { sandbox, persistence } = await opened(file, { durability: 'power' })
  put(sandbox, 'a', 'one')
  const durable = sandbox.store.journal?.durable()
  const checkpoint = persistence.checkpointNow()
  put(sandbox, 'b', 'two')
  await Promise.all([durable, sandbox.store.journal?.durable(), checkpoint])
  expect(texts((await opened(killed(file))).sandbox)).toEqual({ a: 'one', b: 'two' })
})

test('with durability power, a failed sync of the log is answered by a checkpoint into new files', async () => {
  const file = stateFile()
  let failures = 0
  const files: Files = {
    ...nodeFiles,
    datasync: (fd) => (failures-- > 0 ? Promise.reject(new Error('EIO')) : nodeFiles.datasync(fd)),
  }
  const { sandbox } = await opened(file, { durability: 'power', files })
  put(sandbox, 'a', 'one')
  failures = 1
  await sandbox.store.journal?.durable()
  expect(readFileSync(file, 'utf8')).toContain('"text": "one"')
  put(sandbox, 'b', 'two')
  await sandbox.store.journal?.durable()
  expect(texts((await opened(killed(file))).sandbox)).toEqual({ a: 'one', b: 'two' })
})

test('a reset and what follows it are there after a kill', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file, { start: { a: 'one', b: 'two' } })
  put(sandbox, 'c', 'three')
  sandbox.setSettings({ unknown_fields: 'reject' })
  sandbox.become(await startingWorld({ a: 'one', d: 'four' }))
  put(sandbox, 'e', 'five')
  const again = await opened(killed(file))
  expect(texts(again.sandbox)).toEqual({ a: 'one', d: 'four', e: 'five' })
  expect(again.sandbox.store.get(WORLD, SETTINGS)).toEqual({ id: 'settings', values: {} })
})

test('a commit as large as the largest batch is logged and comes back', async () => {
  const file = stateFile()
  const { sandbox } = await opened(file)
  const large = 'ä'.repeat(20 * 1024 * 1024)
  put(sandbox, 'a', large)
  const again = await opened(killed(file))
  expect(texts(again.sandbox).a === large).toBe(true)
})
