import type { Page, Request } from '@playwright/test'
import type { SandboxClient } from '../index.ts'
import { ClientActivity } from './client-activity.ts'
import { pairClocks, type SyncedClock, stoppedAt } from './synced-clock.ts'

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
  const timers = {
    show: async () => {
      const [first, ...others] = await Promise.all(page.frames().map((frame) => frame.evaluate(timersNow)))
      return { now: first?.now ?? 0, timers: [first, ...others].flatMap((each) => each?.timers ?? []) }
    },
    run: (ms: number) => runFor.call(clock, ms),
    turn: async () => {
      await page.evaluate(nextTask)
      return false
    },
    turns: 3,
  }
  const pair = pairClocks(sandbox, timers, activity)
  clock.runFor = async (time) => {
    if (typeof time === 'number') await pair.advance(`${time}ms`)
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

// Runs in the page, where it reads what Playwright does not show: when the timers are due.
function timersNow() {
  const { _now, _timers } = (globalThis as unknown as { __pwClock: { controller: PageClock } }).__pwClock
    .controller
  const timers = [..._timers.values()].map(({ callAt, type, delay }) => {
    return { due: _now.time + Math.max(0, callAt - _now.ticks), name: `${type} of ${delay} ms` }
  })
  return { now: _now.time, timers }
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
