import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { Killed } from '../../../test/support/mortal-files.ts'
import { Refusal } from '../../core/errors.ts'
import { guardedFiles, nodeFiles } from './files.ts'
import { Lock, type realPorts } from './lock.ts'
import type { StorageNotice } from './notice.ts'
import { thisProcess } from './process-identity.ts'

/** Clocks and timers that move only when the test moves them. */
const world = {
  elapsed: 1_000_000,
  wall: Date.now(),
  timers: [] as { host: string; due: number; every: number | undefined; run: () => void }[],
}

/** A process on a host, as its lock sees it. The host `here` is the real one. */
function portsOn(host: string): typeof realPorts {
  const plan = (ms: number, every: number | undefined, run: () => void) => {
    const timer = { host, due: world.elapsed + ms, every, run }
    world.timers.push(timer)
    return () => {
      world.timers = world.timers.filter((each) => each !== timer)
    }
  }
  const at = host === 'here' ? thisProcess().host : `${host} boot namespace`
  return {
    thisProcess: () => ({ pid: process.pid, host: at }),
    elapsedTime: () => world.elapsed,
    hostTime: () => world.wall,
    later: (ms, run) => plan(ms, undefined, run),
    repeatEvery: (ms, run) => plan(ms, ms, run),
  }
}

const GONE = 2 ** 22 + 1

beforeEach(() => {
  world.timers = []
  world.wall = Date.now()
})
afterEach(() => vi.restoreAllMocks())

function dataFolder(): string {
  return join(folder(onTestFinished), 'data')
}

/** Moves the clocks, and runs the timers of all hosts but those that are stopped. */
async function pass(ms: number, ...stopped: string[]): Promise<void> {
  for (let gone = 0; gone < ms; gone += 250) {
    world.elapsed += 250
    world.wall += 250
    runTimers(...stopped)
    await new Promise((next) => setImmediate(next))
  }
}

function runTimers(...stopped: string[]): void {
  for (const timer of world.timers.filter(({ due }) => due <= world.elapsed)) {
    if (stopped.includes(timer.host) || !world.timers.includes(timer)) continue
    if (timer.every === undefined) world.timers.splice(world.timers.indexOf(timer), 1)
    else timer.due = world.elapsed + timer.every
    timer.run()
  }
}

/** A start on a host, with its result so far. */
class Start {
  readonly host: string
  readonly notices: StorageNotice[] = []
  readonly lock: Promise<Lock>
  result: 'taken' | 'refused' | 'killed' | undefined

  constructor(data: string, host: string) {
    this.host = host
    this.lock = Lock.take(data, (notice) => this.notices.push(notice), portsOn(host))
    this.lock.then(
      () => {
        this.result = 'taken'
      },
      (error) => {
        this.result = error instanceof Killed ? 'killed' : 'refused'
      },
    )
  }
}

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
  for (const [mark, nonce] of [
    ['lock.a1', 'a2'],
    ['lock.a2', 'a3'],
  ] as const)
    writeFileSync(join(data, mark), JSON.stringify({ ...thisProcess(), pid: GONE, nonce }))
  ;(await new Start(data, 'here').lock).check()
  expect([readdirSync(data), lockOf(data).pid]).toEqual([['lock'], process.pid])
})

test.each([
  ['this process has the pid of the holder', thisProcess()],
  [
    'another process has that pid, or is the holder of a folder that was copied',
    { ...thisProcess(), pid: process.ppid },
  ],
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

test.each(['', '\0\0\0', '{"pid":'])(
  'a lock %j, whose process was killed while it wrote it, is replaced after 5 s',
  async (text) => {
    const data = lockedBy(text)
    const start = new Start(data, 'here')
    await pass(4_750)
    expect(readFileSync(join(data, 'lock'), 'utf8')).toBe(text)
    await pass(500)
    ;(await start.lock).check()
    expect(readdirSync(data)).toEqual(['lock'])
  },
)

test.each(['{"lockfileVersion": 3}', 'text', '[]', 'null'])(
  'a file of the user in place of the lock, such as %j, is left alone and reported',
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
  for (const [ms, reads] of [
    [3_000, 0],
    [3_001, 2],
    [3_000, 0],
    [-3_600_000, 2],
  ] as const) {
    world.wall += ms
    read.mockClear()
    lock.check()
    expect([ms, read.mock.calls.length]).toEqual([ms, reads])
  }
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

test('a holder that was stopped until another one took the folder refuses writes and reports it once', async () => {
  const data = dataFolder()
  const old = new Start(data, 'old')
  const lock = await old.lock
  const next = new Start(data, 'new')
  await pass(5_250, 'old')
  const other = await next.lock
  const refusal = await Promise.resolve()
    .then(() => lock.check())
    .catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(Refusal)
  expect(refusal).toMatchObject({
    code: 'storage_unavailable',
    message: `This emulator has lost its data folder: ${data}/lock now belongs to process ${process.pid} on host "new". The file was removed, or process ${process.pid} was stopped for more than 5 s.`,
    options: { mitigation: expect.stringContaining('use the other one or start again') },
  })
  await pass(5_000)
  expect(() => lock.check()).toThrow(lock.lost)
  expect(old.notices.map(({ event, level }) => [event, level])).toEqual([['lock_lost', 'error']])
  lock.release()
  other.check()
  expect(lockOf(data).nonce).toMatch(/^\w{24}$/)
})

test.each(['taken by another process', 'removed'])(
  'a lock that was %s is noticed within a second, without a write',
  async (what) => {
    const data = dataFolder()
    const start = new Start(data, 'here')
    const lock = await start.lock
    rmSync(join(data, 'lock'))
    if (what !== 'removed') lockedBy({ pid: 9, host: 'elsewhere', nonce: 'b1' }, data)
    await pass(1_000)
    expect(lock.lost).toContain(
      what === 'removed' ? 'belongs to no process' : 'belongs to process 9 on host "elsewhere"',
    )
    expect(start.notices).toHaveLength(1)
  },
)

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

test('after the loss of the lock, operations that write throw and operations that read still work', () => {
  const file = join(folder(onTestFinished), 'file')
  writeFileSync(file, 'content')
  const files = guardedFiles(nodeFiles, () => {
    throw new Error('lost')
  })
  const writes: readonly (() => unknown)[] = [
    () => files.open(file, 'r+'),
    () => files.open(`${file}.new`, 'wx'),
    () => files.write(0, Buffer.from('x'), 0),
    () => files.truncate(0, 0),
    () => files.rename(file, `${file}.new`),
    () => files.remove(file),
    () => files.makeDirectory(`${file}.new`),
    () => files.removeDirectory(join(file, '..')),
  ]
  for (const write of writes) expect(write).toThrow('lost')
  expect(readdirSync(join(file, '..'))).toEqual(['file'])
  const open = files.open(file, 'r')
  expect(files.readInto(open, Buffer.alloc(7), 0)).toBe(7)
  files.close(open)
  expect(files.read(file)?.toString()).toBe('content')
})

/** Calls back before each file operation on locks, with its number from 1. @returns a function that ends this */
function atEachOperation(interrupt: (n: number) => void): { count: number; end: () => void } {
  const steps = { count: 0, end: () => vi.restoreAllMocks() }
  for (const name of ['open', 'write', 'rename', 'remove', 'read', 'stat'] as const) {
    const operation = nodeFiles[name] as (...args: unknown[]) => unknown
    vi.spyOn(nodeFiles, name).mockImplementation(((...args: unknown[]) => {
      steps.count += 1
      interrupt(steps.count)
      return operation(...args)
    }) as never)
  }
  return steps
}

/** Repeats a trial for each operation, until a trial has fewer of them. @param trial returns their number */
async function forEachStep(trial: (at: number) => Promise<number>): Promise<void> {
  let at = 1
  while ((await trial(at)) >= at) at += 1
  expect(at).toBeGreaterThan(4)
}

/** A stopped holder, and starts on other hosts for which it is dead at their next look. */
async function stoppedHolder(...hosts: string[]) {
  world.timers = []
  const data = dataFolder()
  const holder = await new Start(data, 'holder').lock
  const starts = hosts.map((host) => new Start(data, host))
  world.elapsed += 5_000
  world.wall += 5_000
  return { data, holder, starts }
}

/** Lets only the starts on these hosts look again. */
function look(...hosts: string[]): void {
  runTimers(...['holder', 'a', 'b', 'c', 'd'].filter((host) => !hosts.includes(host)))
}

function holds(lock: Lock): boolean {
  try {
    lock.check()
    return true
  } catch {
    return false
  }
}

/** Waits until all starts are decided, and counts those that hold the lock. */
async function holdersAmong(starts: readonly Start[], ...stopped: string[]): Promise<number> {
  await pass(7_000, 'holder', ...stopped)
  const locks = await Promise.all(starts.filter(({ result }) => result === 'taken').map(({ lock }) => lock))
  return locks.filter(holds).length
}

test.each([0, 1, 2, 3])(
  'exactly one of three simultaneous starts wins, if the others look %i operations apart',
  async (apart) => {
    await forEachStep(async (at) => {
      const { data, holder, starts } = await stoppedHolder('a', 'b', 'c')
      const steps = atEachOperation((n) => {
        if (n === at) look('b')
        if (n === at + apart) look('c')
      })
      look('a')
      const { count } = steps
      steps.end()
      expect([at, await holdersAmong(starts)]).toEqual([at, 1])
      expect([at, starts.map(({ result }) => result).sort()]).toEqual([at, ['refused', 'refused', 'taken']])
      expect([holds(holder), readdirSync(data)]).toEqual([false, ['lock']])
      return count
    })
  },
)

test('a start that pauses between any two operations, for any time, does not take the lock of a later one', async () => {
  await forEachStep(async (at) => {
    const { data, starts } = await stoppedHolder('a', 'b')
    const steps = atEachOperation((n) => {
      if (n !== at) return
      // The second may have to wait until the first, which does not beat, counts as dead.
      for (let looks = 0; looks < 4; looks++) {
        look('b')
        world.elapsed += 5_000
        world.wall += 5_000
      }
    })
    look('a')
    const { count } = steps
    steps.end()
    expect([at, await holdersAmong(starts)]).toEqual([at, 1])
    expect([at, readdirSync(data)]).toEqual([at, ['lock']])
    return count
  })
})

test('a start that dies at any operation does not block the next one', async () => {
  await forEachStep(async (at) => {
    const { data, starts } = await stoppedHolder('a', 'b')
    const steps = atEachOperation((n) => {
      if (n >= at) throw new Killed()
    })
    look('a')
    const { count } = steps
    steps.end()
    await pass(12_000, 'holder', 'a')
    const last = starts[1]?.result === 'taken' ? starts[1] : new Start(data, 'c')
    await pass(6_000, 'holder', 'a')
    expect([at, holds(await last.lock)]).toEqual([at, true])
    return count
  })
})

test('a holder that wakes up at any operation of a start keeps the lock, or writes nothing more', async () => {
  const kept = new Set<boolean>()
  await forEachStep(async (at) => {
    const { holder, starts } = await stoppedHolder('a')
    let awake = false
    const steps = atEachOperation((n) => {
      if (n === at) awake = holds(holder)
    })
    look('a')
    const { count } = steps
    steps.end()
    await new Promise((next) => setImmediate(next))
    expect([at, awake && starts[0]?.result === 'taken']).toEqual([at, false])
    kept.add(awake)
    return count
  })
  expect(kept).toEqual(new Set([true, false]))
})

test('a start that looks at any operation of a waking holder leaves the lock to it', async () => {
  await forEachStep(async (at) => {
    const { holder, starts } = await stoppedHolder('a')
    const steps = atEachOperation((n) => {
      if (n === at) look('a')
    })
    expect([at, holds(holder)]).toEqual([at, true])
    const { count } = steps
    steps.end()
    await new Promise((next) => setImmediate(next))
    expect([at, starts[0]?.result]).not.toEqual([at, 'taken'])
    return count
  })
})
