import type { Page } from '@playwright/test'
import { later } from '../../src/adapters/realtime.ts'
import { RequestLog } from '../../src/core/log/request-log.ts'
import { perform } from '../../src/core/request/pipeline.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { type Dashboard, openDashboard } from '../dashboard/browser.ts'

/**
 * `npm run bench:dashboard`: how quick the dashboard is with a full log, many batches and many events. It prints, and fails by
 * nothing: `npm test` asserts the bounds that do not depend on the machine.
 */
const [ROWS, BATCHES, EVENTS, SECONDS] = [10_000, 200, 1_000, 10]

/** Makes a request within the process, which leaves time to the browser. */
function request(sandbox: Sandbox, name: string, body?: object): void {
  const operation = sandbox.service.operations.get(name)
  if (operation === undefined) throw new Error(`there is no operation ${name}`)
  perform(sandbox, {
    operation,
    method: operation.method,
    path: `/v1${operation.path}`,
    pathPrefix: '',
    timing: { began: 0, took: 1, onOver: undefined },
    chosenBy: 'default',
    params: {},
    query: {},
    headers: { authorization: 'Bearer live_demo_owner' },
    body: body === undefined ? { kind: 'none' } : { kind: 'json', value: body as never },
  })
}

function fill({ emulator: { sandbox } }: Dashboard): void {
  // The log of a sandbox holds 1,000.
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

/** Notes tasks of more than 50 ms, and when the first row or bar of a view is there. */
const OBSERVE = `
  window.measured = { tasks: [], first: undefined }
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      window.measured.tasks.push([Math.round(startTime), Math.round(duration)])
  }).observe({ type: 'longtask', buffered: true })
  const look = () => {
    if (document.querySelector('tr[data-id], .chart-labels li') === null) requestAnimationFrame(look)
    else window.measured.first = performance.now()
  }
  requestAnimationFrame(look)
`

interface Measured {
  readonly tasks: readonly (readonly [at: number, ms: number])[]
  readonly first: number | undefined
}

const measured = (page: Page) => page.evaluate('window.measured') as Promise<Measured>

const pause = (ms: number) => new Promise<void>((resolve) => later(ms, resolve))

async function firstPaint({ emulator, page }: Dashboard, view: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${emulator.url}/__emulator/ui/#/default/${view}`)
  while ((await measured(page)).first === undefined) await pause(20)
  await pause(3_000)
  const { first, tasks } = await measured(page)
  const paint = await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime`)
  const longest = Math.max(0, ...tasks.map(([, ms]) => ms))
  print(`${view}: first paint`, `${Math.round(Number(paint))} ms`)
  print(`${view}: first rows`, `${Math.round(first ?? 0)} ms`)
  print(`${view}: longest task while it loads`, `${longest} ms`)
}

async function manyEvents({ emulator, page }: Dashboard, view: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(`${emulator.url}/__emulator/ui/#/default/${view}`)
  while ((await measured(page)).first === undefined) await pause(20)
  await pause(3_000)
  await page.evaluate('window.measured.tasks.length = 0')
  const before = emulator.sandbox.log.requests
  const began = performance.now()
  while (performance.now() - began < SECONDS * 1_000) {
    const due = ((performance.now() - began) / 1_000) * EVENTS
    for (let n = emulator.sandbox.log.requests - before; n < due; n++)
      request(emulator.sandbox, 'data-views.list')
    await pause(10)
  }
  const { tasks } = await measured(page)
  const rate = (emulator.sandbox.log.requests - before) / SECONDS
  print(
    `${view}: longest task at ${Math.round(rate)} events per second`,
    `${Math.max(0, ...tasks.map(([, ms]) => ms))} ms`,
  )
  print(`${view}: tasks over 100 ms`, String(tasks.filter(([, ms]) => ms > 100).length))
}

function print(name: string, value: string): void {
  process.stdout.write(`${name.padEnd(60)} ${value}\n`)
}

const dashboard = await openDashboard()
try {
  fill(dashboard)
  await dashboard.page.addInitScript(OBSERVE)
  print('request log', `${dashboard.emulator.sandbox.log.size} rows, ${BATCHES} batches`)
  for (const view of ['requests', 'timeline', 'batches']) await firstPaint(dashboard, view)
  for (const view of ['requests', 'timeline']) await manyEvents(dashboard, view)
} finally {
  await dashboard.close()
}
