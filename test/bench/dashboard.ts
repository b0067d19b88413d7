import type { Page } from '@playwright/test'
import { RequestLog } from '../../src/core/log/request-log.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { later } from '../../src/core/time/realtime.ts'
import { type Dashboard, openDashboard } from '../dashboard/browser.ts'
import { callOperation } from '../support/call-operation.ts'

/**
 * `npm run bench:dashboard`: the speed of the dashboard with a full log, many batches and many events. It only prints:
 * `npm test` asserts the bounds that do not depend on the machine. Each figure is elapsed time, followed by processor time
 * in brackets, which other programs do not affect.
 */
const [ROWS, BATCHES, EVENTS, SECONDS, LOADS] = [10_000, 200, 1_000, 10, 5]

/** Sends a request within this process, which leaves time to the browser. */
function request(sandbox: Sandbox, name: string, body?: object): void {
  callOperation(sandbox, name, { body, headers: { authorization: 'Bearer live_demo_owner' } })
}

function fill({ emulator: { sandbox } }: Dashboard): void {
  // The log of a sandbox is limited to 1,000 requests.
  Object.assign(sandbox, { log: new RequestLog(ROWS) })
  for (let n = 0; n < BATCHES; n++) {
    request(sandbox, 'batch-predictions.create', {
      prompt: 'Read it.',
      output_schema: { type: 'object', properties: { total: { type: 'number' } } },
      model: 'any-model',
      metadata: { label: `batch ${n}` },
      items: Array.from({ length: 10 }, (_, i) => ({ file_id: 'file-invoice-1', custom_id: `i-${i}` })),
    })
  }
  for (let n = BATCHES; n < ROWS; n++) request(sandbox, 'data-views.list')
}

/** Sets a mark when the first row or bar of a view is present. */
const OBSERVE = `
  const look = () => {
    if (document.querySelector('tr[data-id], .chart-labels a') === null) requestAnimationFrame(look)
    else performance.mark('first rows')
  }
  requestAnimationFrame(look)
`

/** One task of the page's thread, in milliseconds. */
interface Task {
  readonly at: number
  readonly wall: number
  readonly cpu: number
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  readonly tdur?: number
  readonly args: { readonly data?: { readonly documentLoaderURL?: string } }
}

interface Traced {
  readonly tasks: readonly Task[]
  /** Milliseconds from the navigation to a mark. */
  at(name: string): number
}

async function traced({ page, emulator }: Dashboard, work: () => Promise<void>): Promise<Traced> {
  const browser = page.context().browser()
  await browser?.startTracing(page, { categories: ['toplevel', 'blink.user_timing', 'loading'] })
  await work()
  const text = String(await browser?.stopTracing())
  const { traceEvents } = JSON.parse(text) as { readonly traceEvents: readonly TraceEvent[] }
  const isNavigation = ({ name, args }: TraceEvent) =>
    name === 'navigationStart' && args.data?.documentLoaderURL?.startsWith(emulator.url) === true
  const start = traceEvents.findLast(isNavigation)
  // Without a navigation, the page is the one that created marks.
  const { pid, tid } = start ?? (traceEvents.find(({ name }) => name === 'began') as TraceEvent)
  const own = traceEvents.filter((event) => event.pid === pid && event.tid === tid)
  const zero = start?.ts ?? 0
  return {
    tasks: own
      .filter(({ name, ts }) => name === 'ThreadControllerImpl::RunTask' && ts >= zero)
      .map(({ ts, dur = 0, tdur = 0 }) => ({
        at: (ts - zero) / 1_000,
        wall: dur / 1_000,
        cpu: tdur / 1_000,
      })),
    at: (wanted) => ((own.find(({ name }) => name === wanted)?.ts ?? Number.NaN) - zero) / 1_000,
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => later(ms, resolve))

const isShown = (page: Page) =>
  page.evaluate(`performance.getEntriesByName('first rows').length > 0`) as Promise<boolean>

async function open({ emulator, page }: Dashboard, view: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${emulator.url}/__emulator/ui/#/default/${view}`)
  while (!(await isShown(page))) await pause(50)
  await pause(3_000)
}

const longest = (tasks: readonly Task[], by: 'wall' | 'cpu') => Math.max(0, ...tasks.map((task) => task[by]))

const sum = (tasks: readonly Task[]) => tasks.reduce((all, { cpu }) => all + cpu, 0)

async function firstPaint(dashboard: Dashboard, view: string): Promise<void> {
  const loads: { paint: number; rows: number; work: number; tasks: readonly Task[] }[] = []
  for (let n = 0; n < LOADS; n++) {
    const { tasks, at } = await traced(dashboard, () => open(dashboard, view))
    const rows = at('first rows')
    const work = sum(tasks.filter((task) => task.at < rows))
    loads.push({ paint: at('firstContentfulPaint'), rows, work, tasks })
  }
  const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[LOADS >> 1] ?? 0
  print(`${view}: first paint`, middle(loads.map(({ paint }) => paint)))
  print(`${view}: first rows`, middle(loads.map(({ rows }) => rows)), middle(loads.map(({ work }) => work)))
  print(
    `${view}: longest task while it loads`,
    middle(loads.map(({ tasks }) => longest(tasks, 'wall'))),
    middle(loads.map(({ tasks }) => longest(tasks, 'cpu'))),
  )
}

async function manyEvents(dashboard: Dashboard, view: string): Promise<void> {
  const { emulator, page } = dashboard
  await open(dashboard, view)
  const before = emulator.sandbox.log.requests
  const { tasks } = await traced(dashboard, async () => {
    await page.evaluate(`performance.mark('began')`)
    const began = performance.now()
    while (performance.now() - began < SECONDS * 1_000) {
      const due = ((performance.now() - began) / 1_000) * EVENTS
      for (let n = emulator.sandbox.log.requests - before; n < due; n++) {
        // One request in ten changes something.
        if (n % 10 === 0) request(emulator.sandbox, 'pages.create', { name: `page ${n}` })
        else request(emulator.sandbox, 'data-views.list')
      }
      await pause(10)
    }
  })
  const rate = Math.round((emulator.sandbox.log.requests - before) / SECONDS)
  print(`${view}: longest task at ${rate} events per second`, longest(tasks, 'wall'), longest(tasks, 'cpu'))
  const over = (by: 'wall' | 'cpu') => tasks.filter((task) => task[by] > 100).length
  print(`${view}: tasks over 100 ms`, over('wall'), over('cpu'), '')
}

function print(name: string, wall: number, cpu?: number, unit = ' ms'): void {
  const text = `${Math.round(wall)}${unit}${cpu === undefined ? '' : ` (${Math.round(cpu)}${unit})`}`
  process.stdout.write(`${name.padEnd(60)} ${text}\n`)
}

const dashboard = await openDashboard()
try {
  fill(dashboard)
  await dashboard.page.addInitScript(OBSERVE)
  const rows = dashboard.emulator.sandbox.log.size
  process.stdout.write(`${rows} rows in the log, ${BATCHES} batches; medians of ${LOADS} loads\n`)
  for (const view of ['requests', 'timeline', 'batches']) await firstPaint(dashboard, view)
  for (const view of ['requests', 'timeline', 'batches']) await manyEvents(dashboard, view)
} finally {
  await dashboard.close()
}
