import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { dataFolder, pass, Start, world } from '../../../test/support/lock-hosts.ts'
import { guardedFiles, nodeFiles } from './files.ts'
import { thisProcess } from './process-identity.ts'

const GONE = 2 ** 22 + 1

beforeEach(() => {
  world.timers = []
  world.wall = Date.now()
})
afterEach(() => vi.restoreAllMocks())

/** Writes the lock of a process, which does not beat. @returns the folder */
function lockedBy(holder: object | string, data = dataFolder()): string {
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'lock'), typeof holder === 'string' ? holder : JSON.stringify(holder))
  return data
}

const lockOf = (data: string) => JSON.parse(readFileSync(join(data, 'lock'), 'utf8'))

test('a second emulator in the same process is refused, and the folder is free after the first one', async () => {
  const data = dataFolder()
  const first = new Start(data, 'here')
  const second = new Start(data, 'here')
  await pass(1_250)
  await expect(second.lock).rejects.toThrow(
    `${data} is in use by process ${process.pid}. Stop that process, or choose another data folder (--data). If that process is not an emulator, delete ${data}/lock.`,
  )
  expect(second.notices).toEqual([])
  const lock = await first.lock
  lock.release()
  expect(readdirSync(data)).toEqual([])
  expect(() => lock.check()).toThrow('The emulator has been closed.')
  ;(await new Start(data, 'here').lock).release()
})

test('a process that has ended is replaced at once, and so is one that died while it replaced another', async () => {
  const data = lockedBy({ ...thisProcess(), pid: GONE, nonce: 'a1' })
  for (const [mark, nonce] of Object.entries({ 'lock.a1': 'a2', 'lock.a2': 'a3' }))
    writeFileSync(join(data, mark), JSON.stringify({ ...thisProcess(), pid: GONE, nonce }))
  ;(await new Start(data, 'here').lock).check()
  expect([readdirSync(data), lockOf(data).pid]).toEqual([['lock'], process.pid])
})

test.each([
  ['this process has the pid of the holder', thisProcess()],
  ['another process has that pid, as in a folder that was copied', { ...thisProcess(), pid: process.ppid }],
  ['the holder is on another machine', { pid: 7, host: 'elsewhere x y' }],
])('if %s, a start waits for 5 s without a beat, says so and takes the folder', async (_, holder) => {
  const data = lockedBy({ ...holder, nonce: 'a1' })
  const start = new Start(data, 'here')
  await pass(4_750)
  expect(lockOf(data).nonce).toBe('a1')
  expect(start.notices).toMatchObject([{ event: 'lock_waiting', level: 'warn' }])
  expect(start.notices[0]?.message).toMatch(
    /^.*\/data\/lock names process \d+( on host "elsewhere")?, and it is not known whether that process still uses the folder\. It is replaced if its file does not change for 5 s\.$/,
  )
  await pass(500)
  ;(await start.lock).check()
  expect(readdirSync(data)).toEqual(['lock'])
})

test('a start is refused after the next beat of a holder elsewhere', async () => {
  const data = dataFolder()
  const holder = await new Start(data, 'elsewhere').lock
  const start = new Start(data, 'here')
  await pass(1_250)
  await expect(start.lock).rejects.toThrow(`in use by process ${process.pid} on host "elsewhere".`)
  expect(start.notices).toEqual([])
  holder.check()
})

test('a wait is not shortened by a change of the host clock, or by a sleep of the process that waits', async () => {
  const data = dataFolder()
  const holder = await new Start(data, 'elsewhere').lock
  const start = new Start(data, 'here')
  world.wall += 3_600_000
  await pass(250, 'elsewhere')
  expect(start.result).toBeUndefined()
  await pass(10_000, 'here')
  await pass(250)
  expect(start.result).toBe('refused')
  holder.check()
})

test.each(['', '\0\0\0', '{"pid":'])('the half-written lock %j is replaced after 5 s', async (text) => {
  const data = lockedBy(text)
  const start = new Start(data, 'here')
  await pass(4_750)
  expect(readFileSync(join(data, 'lock'), 'utf8')).toBe(text)
  await pass(500)
  ;(await start.lock).check()
  expect(readdirSync(data)).toEqual(['lock'])
})

test.each(['{"lockfileVersion": 3}', 'text', '[]', 'null'])(
  '%j is no lock, and is left alone',
  async (text) => {
    const data = lockedBy(text)
    await expect(new Start(data, 'here').lock).rejects.toThrow(
      `${data}/lock is not a lock. Move it away, or use another folder (--data).`,
    )
    expect(readFileSync(join(data, 'lock'), 'utf8')).toBe(text)
  },
)

test.each([
  ['a directory', (path: string) => mkdirSync(path)],
  ['a FIFO', (path: string) => execFileSync('mkfifo', [path])],
])('%s in place of the lock is reported, with the fix', async (kind, make) => {
  const data = dataFolder()
  mkdirSync(data)
  make(join(data, 'lock'))
  await expect(new Start(data, 'here').lock).rejects.toThrow(
    `${data}/lock is ${kind}, and the emulator needs a file there. Move it away,`,
  )
})

test('a broken link in place of the lock is reported', async () => {
  const data = dataFolder()
  mkdirSync(data)
  symlinkSync('nowhere', join(data, 'lock'))
  const start = new Start(data, 'here')
  await pass(5_250)
  await expect(start.lock).rejects.toThrow('/lock cannot be read. Delete it')
})

test('a check reads no file for 3 s after a beat; then it beats', async () => {
  const data = dataFolder()
  const lock = await new Start(data, 'here').lock
  const read = vi.spyOn(nodeFiles, 'read')
  const reads = [3_000, 3_001, 3_000, -3_600_000].map((ms) => {
    world.wall += ms
    read.mockClear()
    lock.check()
    return read.mock.calls.length
  })
  expect(reads).toEqual([0, 2, 0, 2])
})

test('each beat changes the lock, even if the clock of the process stands still', async () => {
  const data = dataFolder()
  await new Start(data, 'here').lock
  const { wall } = world
  const beats = new Set<bigint | undefined>()
  for (let n = 0; n < 4; n++) {
    await pass(1_000)
    world.wall = wall
    beats.add(nodeFiles.stat(join(data, 'lock'))?.modified)
  }
  expect(beats.size).toBe(4)
})

test('a holder whose folder was moved notices another one at its path before it writes there', async () => {
  const data = dataFolder()
  const moved = new Start(data, 'here')
  const lock = await moved.lock
  renameSync(data, `${data}-moved`)
  const other = await new Start(data, 'here').lock
  // An open journal is in the moved folder, wherever that is.
  lock.check()
  const files = guardedFiles(nodeFiles, (byPath) => lock.check(byPath))
  expect(() => files.open(join(data, 'default.json'), 'wx')).toThrow('has lost its data folder')
  expect(() => files.rename(join(data, 'a'), join(data, 'b'))).toThrow('has lost its data folder')
  expect(readdirSync(data)).toEqual(['lock'])
  expect(moved.notices.map(({ event }) => event)).toEqual(['lock_lost'])
  other.check(true)
})

test('a holder that was stopped until another one took the folder refuses writes and reports it once', async () => {
  const data = dataFolder()
  const old = new Start(data, 'old')
  const lock = await old.lock
  const next = new Start(data, 'new')
  await pass(5_250, 'old')
  const other = await next.lock
  await expect(async () => lock.check()).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: `This emulator has lost its data folder: ${data}/lock now belongs to process ${process.pid} on host "new". The file was removed, the folder was moved, or process ${process.pid} was stopped for more than 5 s.`,
    options: { mitigation: expect.stringContaining('use the other one or start again') },
  })
  await pass(5_000)
  expect(() => lock.check()).toThrow(lock.lost)
  expect(old.notices.map(({ event, level }) => [event, level])).toEqual([['lock_lost', 'error']])
  lock.release()
  other.check()
  expect(lockOf(data).nonce).toMatch(/^\w{24}$/)
})

test.each(['taken by another process', 'removed'])('a lock %s is noticed within a second', async (what) => {
  const data = dataFolder()
  const start = new Start(data, 'here')
  const lock = await start.lock
  rmSync(join(data, 'lock'))
  if (what !== 'removed') lockedBy({ pid: 9, host: 'elsewhere', nonce: 'b1' }, data)
  await pass(1_000)
  const holder = what === 'removed' ? 'no process' : 'process 9 on host "elsewhere"'
  expect(lock.lost).toContain(`belongs to ${holder}`)
  expect(start.notices).toHaveLength(1)
})

test('a lock that cannot be read refuses writes until it can', async () => {
  const lock = await new Start(dataFolder(), 'here').lock
  const read = vi.spyOn(nodeFiles, 'read').mockImplementation(() => {
    throw new Error('EIO: i/o error, read')
  })
  await pass(4_000)
  expect(() => lock.check()).toThrow('EIO')
  expect(lock.lost).toBeUndefined()
  read.mockRestore()
  lock.check()
})
