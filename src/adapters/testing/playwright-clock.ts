import type { Page, Request } from '@playwright/test'
import type { SandboxClient } from '../../index.ts'
import { ClientActivity } from './client-activity.ts'
import { ClockPair, type FakeTimers, type SyncedClock, stoppedAt, type TimersNow } from './synced-clock.ts'

/** Virtual milliseconds that `page.clock` runs in real time between its installation and its pause. */
const BEFORE = 3_600_000

const NO_PAGE_CLOCK =
  'syncClock() needs page.clock, and this version of Playwright has none: it was added in 1.45. Install @playwright/test 1.45 or later.'

/**
 * Joins the timers of a page and the clock of a sandbox, until the page is closed. Call it before `page.goto`. It installs
 * `page.clock` at the time of the sandbox and pauses it. Then `sandbox.clock.advance` and `page.clock.runFor` both run the timers
 * of the page and the events of the service in the order of their instants. Each step waits until the requests of the page are
 * answered. Rejects if the clock of the sandbox runs, and in a Playwright before 1.45, which has no `page.clock`.
 * @example
 * await syncClock(sandbox, page)
 * await page.goto(url) // polls every ten minutes
 * await sandbox.clock.advance('24h')
 * await expect(page.getByRole('status')).toHaveText('completed')
 */
export async function syncPageClock(sandbox: SandboxClient, page: Page): Promise<SyncedClock> {
  if ((page as Partial<Page>).clock === undefined) throw new Error(NO_PAGE_CLOCK)
  const now = await stoppedAt(sandbox)
  await page.clock.install({ time: now - BEFORE })
  await page.clock.pauseAt(now)
  const activity = new ClientActivity()
  const begin = (request: Request): void => {
    // A stream of events has no end.
    if (request.resourceType() !== 'eventsource')
      activity.begin(request, `${request.method()} ${request.url()}`)
  }
  const end = (request: Request): void => activity.end(request)
  const context = page.context()
  context.on('request', begin).on('requestfinished', end).on('requestfailed', end)
  const { clock } = page
  const { runFor } = clock
  const run = (ms: number): Promise<void> => runFor.call(clock, ms)
  const pair = new ClockPair(sandbox, pageTimers(page, run), activity)
  clock.runFor = async (time) => {
    if (typeof time === 'number') await pair.advanceBy(time)
    else throw new TypeError(`The synced page.clock.runFor() accepts milliseconds only, not "${time}".`)
  }
  const restore = (): void => {
    context.off('request', begin).off('requestfinished', end).off('requestfailed', end)
    clock.runFor = runFor
    pair.restore()
  }
  page.once('close', restore)
  return { restore, [Symbol.dispose]: restore }
}

function pageTimers(page: Page, run: (ms: number) => Promise<void>): FakeTimers {
  const show = async (): Promise<TimersNow> => {
    const [first, ...others] = await Promise.all(page.frames().map((frame) => frame.evaluate(timersNow)))
    const due = (shown: TimersNow) => shown.next?.due ?? Number.POSITIVE_INFINITY
    return others.reduce((one, other) => (due(other) < due(one) ? other : one), first as TimersNow)
  }
  return {
    show,
    runNext: async () => {
      const { now, next } = await show()
      if (next !== undefined) await run(next.due - now)
    },
    moveTo: async (instant) => run(instant - (await show()).now),
    turn: async () => {
      await page.evaluate(nextTask)
      return false
    },
    turns: 3,
  }
}

// Runs in the page, where it reads what Playwright does not show: when the next timer is due.
function timersNow(): TimersNow {
  const { _now, _timers } = (globalThis as unknown as { __pwClock: { controller: PageClock } }).__pwClock
    .controller
  const [first, ...others] = _timers.values()
  if (first === undefined) return { now: _now.time, next: undefined }
  const next = others.reduce((one, other) => (other.callAt < one.callAt ? other : one), first)
  const due = _now.time + Math.max(0, next.callAt - _now.ticks)
  return { now: _now.time, next: { due, name: `${next.type} of ${next.delay} ms` } }
}

interface PageClock {
  readonly _now: { readonly time: number; readonly ticks: number }
  readonly _timers: ReadonlyMap<number, { callAt: number; type: string; delay: number }>
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    Object.assign(port1, { onmessage: () => resolve() })
    port2.postMessage(null)
  })
}
