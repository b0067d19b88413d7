import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { type FakeProcess, Machines } from '../../../test/support/lock-processes.ts'
import { Killed } from '../../../test/support/mortal-files.ts'
import { type Files, nodeFiles } from './files.ts'
import type { Lock } from './lock.ts'
import { DataFolderLocked, LockIo, LockTaking } from './lock-taking.ts'

function dataFolder(): string {
  return join(folder(onTestFinished), 'data')
}

/** The result of a start: its lock, or the message of its error. */
async function outcome(taking: Promise<Lock>): Promise<Lock | string> {
  return taking.catch((error: Error) => error.message)
}

/** The real files, with a callback before each operation. */
class SteppedFiles {
  /** Operations since the last {@link arm}. */
  count = 0
  readonly files: Files
  #interrupt: (n: number) => void = () => {}

  constructor() {
    const names = ['open', 'write', 'close', 'link', 'rename', 'remove', 'read', 'readInto', 'list'] as const
    const wrapped = names.map((name) => {
      const operation = nodeFiles[name] as (...args: unknown[]) => unknown
      const stepped = (...args: unknown[]): unknown => {
        this.count += 1
        this.#interrupt(this.count)
        return operation(...args)
      }
      return [name, stepped]
    })
    this.files = { ...nodeFiles, ...Object.fromEntries(wrapped) }
  }

  /** From now on `interrupt` is called before each operation, with its number from 1. */
  arm(interrupt: (n: number) => void): void {
    this.count = 0
    this.#interrupt = interrupt
  }

  disarm(): void {
    this.#interrupt = () => {}
  }
}

/** A start whose tries are made one by one by the test. */
class Start {
  readonly process: FakeProcess
  /** The result; undefined as long as the start would wait. */
  result: 'taken' | 'refused' | 'killed' | undefined
  readonly #taking: LockTaking

  constructor(data: string, process: FakeProcess) {
    const { ports } = process
    this.process = process
    this.#taking = new LockTaking(data, join(data, 'lock'), ports, new LockIo(ports.files, ports.self))
  }

  try(): void {
    if (this.result !== undefined) return
    try {
      if (this.#taking.try() === undefined) this.result = 'taken'
    } catch (error) {
      if (!(error instanceof DataFolderLocked || error instanceof Killed)) throw error
      this.result = error instanceof Killed ? 'killed' : 'refused'
    }
  }
}

/** A folder with a silent holder, and three starts elsewhere. For them the holder is dead at their next try. */
async function silentHolder() {
  const [data, machines, steps] = [dataFolder(), new Machines(), new SteppedFiles()]
  const holderSteps = new SteppedFiles()
  const lock = await machines.process('holder', 1, holderSteps.files).take(data)
  const first = new Start(data, machines.process('first', 1, steps.files))
  const others = ['second', 'third'].map((name) => new Start(data, machines.process(name)))
  for (const each of [first, ...others]) each.try()
  const silence = (): void => {
    machines.ticks += 5_000
    machines.wall += 5_000
  }
  silence()
  return { data, lock, first, others, steps, holderSteps, silence }
}

/** Repeats a trial for each step, until a trial has fewer steps. @param trial returns the number of its steps */
async function atEachStep(trial: (at: number) => Promise<number>): Promise<void> {
  let at = 1
  while ((await trial(at)) >= at) at += 1
  expect(at).toBeGreaterThan(5)
}

/** Whether the holder may acknowledge writes. */
function holds(lock: Lock): boolean {
  try {
    lock.check()
    return true
  } catch {
    return false
  }
}

test('a holder elsewhere with a heartbeat keeps the lock and is named within a second', async () => {
  const [data, machines] = [dataFolder(), new Machines()]
  const [holder, newcomer] = [machines.process('a', 7), machines.process('b', 7)]
  const lock = await holder.take(data)
  lock.startHeartbeat('now')
  const taking = outcome(newcomer.take(data))
  await machines.pass(500)
  expect(newcomer.notices.map(({ event }) => event)).toEqual(['lock_waiting'])
  expect(newcomer.notices[0]?.message).toBe(
    `${data}/lock belongs to process 7 on host "host" (in another container, or before a restart of the host), which is not visible from this process. Waiting up to 5 s for its heartbeat: if there is none, it has ended, and this process takes over.`,
  )
  holder.beat()
  await machines.pass(250)
  expect(await taking).toContain(`${data} is in use by process 7 on host "host"`)
  lock.check()
  expect(readdirSync(data)).toEqual(['lock'])
})

test('a holder elsewhere counts as dead after five seconds of silence on the clock of the newcomer', async () => {
  const [data, machines] = [dataFolder(), new Machines()]
  const lock = await machines.process('a').take(data)
  const newcomer = machines.process('b')
  const taking = newcomer.take(data)
  await machines.pass(4_750)
  expect(JSON.parse(readFileSync(join(data, 'lock'), 'utf8')).namespace).toBe('a')
  await machines.pass(250)
  const taken = await taking
  expect(newcomer.notices).toHaveLength(1)
  expect(() => lock.check()).toThrow('has lost its data folder')
  taken.check()
  expect(readdirSync(data)).toEqual(['lock'])
})

test.each([
  ['an hour of the host clock', { ticks: 0, wall: 3_600_000 }],
  ['four seconds of sleep', { ticks: 4_000, wall: 4_000 }],
])('a silent holder does not count as dead because of %s', async (_, { ticks, wall }) => {
  const [data, machines] = [dataFolder(), new Machines()]
  await machines.process('a').take(data)
  const newcomer = machines.process('b')
  const taking = newcomer.take(data)
  machines.ticks += ticks
  machines.wall += wall
  await machines.pass(750)
  expect(JSON.parse(readFileSync(join(data, 'lock'), 'utf8')).namespace).toBe('a')
  await machines.pass(5_000)
  await taking
})

test.runIf(process.platform === 'linux')(
  'on Linux without boot id and pid namespace, a pid does not identify a holder',
  async () => {
    const [data, machines] = [dataFolder(), new Machines()]
    const unnamed = (id: string) => {
      const each = machines.process(id)
      const place = { host: 'host', boot: null, namespace: null }
      Object.assign(each.ports.self, { place })
      return each
    }
    const [holder, newcomer] = [unnamed('a'), unnamed('b')]
    holder.isRunning = false
    newcomer.isRunning = false
    const lock = await holder.take(data)
    lock.startHeartbeat('now')
    const taking = outcome(newcomer.take(data))
    await machines.pass(500)
    holder.beat()
    await machines.pass(250)
    expect(await taking).toContain('is in use by process 1')
  },
)

// The second newcomer tries before one step of the first, the third before a step that is `apart` steps later.
test.each([0, 1, 2, 3, 4, 5])(
  'exactly one of three newcomers takes over from a dead holder, if the others try %i steps apart',
  async (apart) => {
    await atEachStep(async (at) => {
      const { data, lock, first, others, steps } = await silentHolder()
      steps.arm((n) => {
        if (n === at) others[0]?.try()
        if (n === at + apart) others[1]?.try()
      })
      first.try()
      steps.disarm()
      for (const each of [first, ...others]) each.try()
      const results = [first, ...others].map(({ result }) => result)
      expect([at, ...results.sort()]).toEqual([at, 'refused', 'refused', 'taken'])
      expect(holds(lock)).toBe(false)
      expect(readdirSync(data)).toEqual(['lock'])
      return steps.count
    })
  },
)

test('a newcomer that pauses between any two steps does not take the lock from a later newcomer', async () => {
  await atEachStep(async (at) => {
    const { first, others, steps, silence } = await silentHolder()
    steps.arm((n) => {
      if (n !== at) return
      // The second may have to wait until the first's right to evict, which no longer changes, counts as dead.
      for (let tries = 0; tries < 3; tries++) {
        others[0]?.try()
        silence()
      }
    })
    first.try()
    steps.disarm()
    for (const each of [first, ...others]) each.try()
    const results = [first, ...others].map(({ result }) => result)
    expect({ at, taken: results.filter((result) => result === 'taken').length }).toEqual({ at, taken: 1 })
    return steps.count
  })
})

test('a newcomer that dies at any step does not prevent the next one from taking over', async () => {
  await atEachStep(async (at) => {
    const { data, lock, first, others, steps, silence } = await silentHolder()
    steps.arm((n) => {
      if (n >= at) throw new Killed()
    })
    first.try()
    steps.disarm()
    const next = others[0] as Start
    for (let tries = 0; tries < 3 && next.result === undefined; tries++) {
      next.try()
      silence()
    }
    // If the first died as the holder, the next may have been refused. A later start finds that the holder is dead.
    const last = new Start(data, next.process)
    for (let tries = 0; tries < 3 && next.result !== 'taken'; tries++) {
      last.try()
      silence()
    }
    expect({ at, taken: [next.result, last.result].includes('taken') }).toEqual({ at, taken: true })
    expect(holds(lock)).toBe(false)
    expect(readdirSync(data)).toEqual(['lock'])
    return steps.count
  })
})

test('a holder that wakes up at any step of a newcomer keeps the lock or acknowledges no more writes', async () => {
  const kept = new Set<boolean>()
  await atEachStep(async (at) => {
    const { data, lock, first, steps } = await silentHolder()
    let awake: boolean | undefined
    steps.arm((n) => {
      if (n === at) awake = holds(lock)
    })
    first.try()
    steps.disarm()
    expect({ at, both: awake === true && first.result === 'taken' }).toEqual({ at, both: false })
    expect({ at, holds: holds(lock) }).toEqual({ at, holds: first.result !== 'taken' })
    expect(readdirSync(data)).toEqual(['lock'])
    kept.add(first.result !== 'taken')
    return steps.count
  })
  expect(kept).toEqual(new Set([true, false]))
})

test('a newcomer that tries at any step of a waking holder takes the lock, or leaves it to the holder', async () => {
  const kept = new Set<boolean>()
  await atEachStep(async (at) => {
    const { lock, first, holderSteps } = await silentHolder()
    holderSteps.arm((n) => {
      if (n === at) first.try()
    })
    const awake = holds(lock)
    holderSteps.disarm()
    first.try()
    expect({ at, both: awake && first.result === 'taken' }).toEqual({ at, both: false })
    expect({ at, neither: !holds(lock) && first.result !== 'taken' }).toEqual({ at, neither: false })
    kept.add(awake)
    return holderSteps.count
  })
  expect(kept).toEqual(new Set([true, false]))
})
