import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { Machines } from '../../../test/support/lock-processes.ts'
import { Refusal } from '../../core/errors.ts'
import { type Files, nodeFiles } from './files.ts'
import { guardedFiles } from './lock.ts'

function dataFolder(): string {
  return join(folder(onTestFinished), 'data')
}

/** A lock, with a counter of the reads by its process. */
async function held() {
  const [data, machines] = [dataFolder(), new Machines()]
  const reads = { count: 0 }
  const files: Files = {
    ...nodeFiles,
    read: (path) => {
      reads.count += 1
      return nodeFiles.read(path)
    },
  }
  const holder = machines.process('a', 1, files)
  const lock = await holder.take(data)
  lock.startHeartbeat('now')
  const readsOf = (work: () => void): number => {
    const before = reads.count
    work()
    return reads.count - before
  }
  const sleep = (ms: number): void => {
    machines.ticks += ms
    machines.wall += ms
  }
  return { data, path: join(data, 'lock'), machines, holder, lock, readsOf, sleep }
}

/** Another process elsewhere takes the lock over. */
async function lose({ machines, data }: { machines: Machines; data: string }) {
  const other = machines.process('b', 9)
  const taking = other.take(data)
  await machines.pass(5_250)
  return taking
}

test('a check reads no file while the heartbeat is fresh', async () => {
  const { lock, holder, readsOf, sleep } = await held()
  for (let n = 0; n < 5; n++) {
    sleep(2_000)
    expect(readsOf(() => lock.check())).toBe(0)
    holder.beat()
  }
})

test('after two seconds without a heartbeat, a check reads the lock and writes a heartbeat', async () => {
  const { lock, path, readsOf, sleep } = await held()
  const before = readFileSync(path, 'utf8')
  sleep(2_001)
  expect(readsOf(() => lock.check())).toBeGreaterThan(0)
  expect(readsOf(() => lock.check())).toBe(0)
  const after = readFileSync(path, 'utf8')
  expect(after).not.toBe(before)
  expect({ ...JSON.parse(after), beat: '' }).toEqual({ ...JSON.parse(before), beat: '' })
})

test('a sleep that stopped the monotonic clock is detected with the host clock', async () => {
  const { lock, machines, readsOf } = await held()
  machines.wall += 3_600_000
  expect(readsOf(() => lock.check())).toBeGreaterThan(0)
  machines.wall -= 3_600_000
  expect(readsOf(() => lock.check())).toBeGreaterThan(0)
})

test('a holder that has lost its lock refuses writes, reports that once, and leaves the lock to the new holder', async () => {
  const { lock, holder, data, machines, path } = await held()
  const other = await lose({ machines, data })
  expect(() => lock.check()).toThrow(
    `This emulator has lost its data folder: process 9 on host "host" (in another container, or before a restart of the host) has taken over ${path}, because there was no heartbeat of this process (1) for 5 s, or because the file was removed.`,
  )
  const refusal = await Promise.resolve()
    .then(() => lock.check())
    .catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(Refusal)
  expect(refusal).toMatchObject({
    code: 'storage_unavailable',
    options: { mitigation: expect.stringContaining('start it again with another data folder (--data)') },
  })
  expect(lock.lost).toContain('has lost its data folder')
  expect(holder.notices.map(({ event, level }) => [event, level])).toEqual([['lock_lost', 'error']])
  await lock.release()
  other.confirm()
  await other.release()
  expect(() => lock.check()).toThrow('has lost its data folder')
})

test('a heartbeat that finds another holder reports it at once, before any write', async () => {
  const { lock, holder, data, machines } = await held()
  await lose({ machines, data })
  holder.beat()
  expect(holder.notices.map(({ event }) => event)).toEqual(['lock_lost'])
  expect(lock.lost).toBeDefined()
})

test('a lock that was removed while its holder slept counts as taken over', async () => {
  const { lock, data, machines } = await held()
  const other = await lose({ machines, data })
  await other.release()
  expect(() => lock.check()).toThrow('A process that has since ended has taken over')
  expect(readdirSync(data)).toEqual([])
})

test('a lock that is removed while its holder is awake is taken again by the next write, even much later', async () => {
  const { lock, holder, data, path, sleep } = await held()
  rmSync(data, { recursive: true })
  for (let n = 0; n < 10; n++) {
    sleep(1_000)
    holder.beat()
  }
  expect(readdirSync(join(data, '..'))).toEqual([])
  lock.check()
  expect(JSON.parse(readFileSync(path, 'utf8')).namespace).toBe('a')
})

test('writes are refused as long as the lock cannot be read', async () => {
  const data = dataFolder()
  const machines = new Machines()
  let fails = false
  const files: Files = {
    ...nodeFiles,
    read: (path) => {
      if (fails) throw Object.assign(new Error('EIO: read'), { code: 'EIO' })
      return nodeFiles.read(path)
    },
  }
  const lock = await machines.process('a', 1, files).take(data)
  machines.ticks += 3_000
  fails = true
  expect(() => lock.check()).toThrow('The lock of the data folder cannot be checked: EIO: read.')
  fails = false
  lock.check()
})

test('after the loss of the lock, operations that write throw and operations that read still work', () => {
  let isOurs = true
  const calls: string[] = []
  const lock = {
    check: () => {
      if (!isOurs) throw new Error('lost')
    },
    confirm: () => {
      calls.push('confirm')
      lock.check()
    },
  }
  const file = join(folder(onTestFinished), 'file')
  writeFileSync(file, 'content')
  const files = guardedFiles(nodeFiles, lock)
  isOurs = false
  const writes: readonly (() => unknown)[] = [
    () => files.open(file, 'r+'),
    () => files.open(`${file}.new`, 'wx'),
    () => files.write(0, Buffer.from('x'), 0),
    () => files.writeSoon(0, Buffer.from('x'), 0),
    () => files.truncate(0, 0),
    () => files.truncatePath(file, 0),
    () => files.rename(file, `${file}.new`),
    () => files.link(file, `${file}.new`),
    () => files.copy(file, `${file}.new`),
    () => files.remove(file),
    () => files.makeDirectory(`${file}.new`),
    () => files.removeDirectory(join(file, '..')),
  ]
  for (const write of writes) expect(write).toThrow('lost')
  expect(calls).toEqual(['confirm'])
  expect(readFileSync(file, 'utf8')).toBe('content')
  expect(readdirSync(join(file, '..'))).toEqual(['file'])
  const open = files.open(file, 'r')
  expect(files.readInto(open, Buffer.alloc(7), 0)).toBe(7)
  expect(files.statOf(open).size).toBe(7)
  files.close(open)
  expect(files.read(file)?.toString()).toBe('content')
  expect(files.list(join(file, '..'))).toEqual(['file'])
})

test('a write or a sync during which the lock is lost throws', async () => {
  let isOurs = true
  const check = (): void => {
    if (!isOurs) throw new Error('lost')
  }
  const losing: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      isOurs = false
      return nodeFiles.write(file, bytes, at)
    },
    datasync: async () => {
      isOurs = false
    },
  }
  const files = guardedFiles(losing, { check, confirm: check })
  const open = files.open(join(folder(onTestFinished), 'file'), 'wx')
  expect(() => files.write(open, Buffer.from('x'), 0)).toThrow('lost')
  isOurs = true
  await expect(files.datasync(open)).rejects.toThrow('lost')
  files.close(open)
})
