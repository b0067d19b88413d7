import { onTestFinished, vi } from 'vitest'
import { nextTurn } from '../core/time/real.ts'
import type { SandboxClient } from '../index.ts'
import { ClientActivity, followRequests } from './client-activity.ts'
import { type FakeTimers, pairClocks, type SyncedClock, stoppedAt } from './synced-clock.ts'

/** What `vi` does not show of its fake timers, which are those of @sinonjs/fake-timers. Each fake function has it. */
interface FakeClock {
  readonly now: number
  readonly timers?: Readonly<Record<string, { callAt: number; type: string; delay?: number }>>
}

/** Fake `setImmediate`, `queueMicrotask` and `nextTick` would stop `fetch`, sockets and React. */
const FAKED = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'requestAnimationFrame',
  'cancelAnimationFrame',
  'requestIdleCallback',
  'cancelIdleCallback',
  'Date',
  'performance',
] as const

const NO_MICROTASKS =
  'syncClock() needs the real queueMicrotask, since a fake one stops fetch. Leave it out of toFake of vi.useFakeTimers().'

let current: SandboxClient | undefined

/**
 * Joins the fake timers of Vitest and the clock of a sandbox, until the test ends. Fakes the timers unless the test has done so,
 * and sets `Date` to the time of the sandbox. Then `sandbox.clock.advance` and `vi.advanceTimersByTimeAsync` both run the timers
 * of the client and the events of the service in the order of their instants. Each step waits until the requests of the client
 * are answered. Rejects if the clock of the sandbox runs, or if `queueMicrotask` is fake.
 * @example
 * await syncClock(sandbox)
 * const done = createAndPoll(sandbox.baseUrl) // polls every ten minutes
 * await sandbox.clock.advance('24h')
 * expect(await done).toMatchObject({ status: 'completed' })
 */
export async function syncClock(sandbox: SandboxClient): Promise<SyncedClock> {
  if (current !== undefined)
    throw new Error(
      `The timers are already synced with the sandbox "${current.name}". Call restore() of that clock first.`,
    )
  if ('clock' in queueMicrotask) throw new Error(NO_MICROTASKS)
  const now = await stoppedAt(sandbox)
  const areOurs = !vi.isFakeTimers()
  if (areOurs) vi.useFakeTimers({ now, toFake: [...FAKED] })
  else vi.setSystemTime(now)
  const activity = new ClientActivity()
  const { advanceTimersByTimeAsync } = vi
  const pair = pairClocks(sandbox, fakeTimers(advanceTimersByTimeAsync), activity)
  const endFollowing = followRequests(activity)
  vi.advanceTimersByTimeAsync = async (ms) => {
    await pair.advance(`${ms}ms`)
    return vi
  }
  current = sandbox
  const restore = (): void => {
    if (current !== sandbox) return
    current = undefined
    vi.advanceTimersByTimeAsync = advanceTimersByTimeAsync
    endFollowing()
    pair.restore()
    if (areOurs) vi.useRealTimers()
  }
  onTestFinished(restore)
  return { restore, [Symbol.dispose]: restore }
}

function fakeTimers(run: FakeTimers['run']): FakeTimers {
  const { clock } = setTimeout as { clock?: FakeClock }
  if (clock === undefined)
    throw new Error('syncClock() needs a fake setTimeout: name it in toFake of vi.useFakeTimers().')
  return {
    show: async () => {
      const timers = Object.values(clock.timers ?? {}).map(({ callAt, type, delay = 0 }) => {
        return { due: callAt, name: `${type} of ${delay} ms` }
      })
      return { now: clock.now, timers }
    },
    run,
    turn: async () => {
      await nextTurn()
      return process.getActiveResourcesInfo().some((name) => /Req|Job|Connect/.test(name))
    },
    turns: 10,
  }
}
