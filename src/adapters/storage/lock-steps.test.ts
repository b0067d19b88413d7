import { readdirSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { dataFolder, pass, runTimers, Start, world } from '../../../test/support/lock-hosts.ts'
import { Killed } from '../../../test/support/mortal-files.ts'
import { nodeFiles } from './files.ts'
import type { Lock } from './lock.ts'

// What another process does between any two file operations of a start or of a holder.
afterEach(() => vi.restoreAllMocks())

/** Acts, and calls back before each of its file operations on locks, with its number from 1. @returns how many there were */
function interrupted(act: () => void, interrupt: (n: number) => void): number {
  let count = 0
  for (const name of ['open', 'write', 'rename', 'remove', 'read', 'stat'] as const) {
    const operation = nodeFiles[name] as (...args: unknown[]) => unknown
    vi.spyOn(nodeFiles, name).mockImplementation(((...args: unknown[]) => {
      count += 1
      interrupt(count)
      return operation(...args)
    }) as never)
  }
  act()
  vi.restoreAllMocks()
  return count
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

function look(...hosts: string[]): void {
  runTimers(...['holder', 'a', 'b', 'c', 'd'].filter((host) => !hosts.includes(host)))
}

const lookA = (): void => look('a')

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

test.each([0, 1, 2, 3])('exactly one of three starts wins if others look %i steps apart', async (apart) => {
  await forEachStep(async (at) => {
    const { data, holder, starts } = await stoppedHolder('a', 'b', 'c')
    const count = interrupted(lookA, (n) => {
      if (n === at) look('b')
      if (n === at + apart) look('c')
    })
    expect([at, await holdersAmong(starts)]).toEqual([at, 1])
    expect([at, starts.map(({ result }) => result).sort()]).toEqual([at, ['refused', 'refused', 'taken']])
    expect([holds(holder), readdirSync(data)]).toEqual([false, ['lock']])
    return count
  })
})

test('a start that pauses between any two operations, for any time, does not take the lock of a later one', async () => {
  await forEachStep(async (at) => {
    const { data, starts } = await stoppedHolder('a', 'b')
    const count = interrupted(lookA, (n) => {
      if (n !== at) return
      // The second may have to wait until the first, which does not beat, counts as dead.
      for (let looks = 0; looks < 4; looks++) {
        look('b')
        world.elapsed += 5_000
        world.wall += 5_000
      }
    })
    expect([at, await holdersAmong(starts)]).toEqual([at, 1])
    expect([at, readdirSync(data)]).toEqual([at, ['lock']])
    return count
  })
})

test('a start that dies at any operation does not block the next one', async () => {
  await forEachStep(async (at) => {
    const { data, starts } = await stoppedHolder('a', 'b')
    const count = interrupted(lookA, (n) => {
      if (n >= at) throw new Killed()
    })
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
    const count = interrupted(lookA, (n) => {
      if (n === at) awake = holds(holder)
    })
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
    let isHeld = false
    const wake = () => {
      isHeld = holds(holder)
    }
    const count = interrupted(wake, (n) => {
      if (n === at) look('a')
    })
    expect([at, isHeld]).toEqual([at, true])
    await new Promise((next) => setImmediate(next))
    expect([at, starts[0]?.result]).not.toEqual([at, 'taken'])
    return count
  })
})
