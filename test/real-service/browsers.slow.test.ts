import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BrowserContext, chromium, type Page } from '@playwright/test'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { command, temporaryDirectory } from '../cli/in-process.ts'
import { chromiumPath } from '../examples/browser/chromium.ts'
import { devtoolsRecording } from '../examples/devtools-har.ts'
import { imported } from './imported.ts'
import { recordTraffic, send } from './record.ts'

// What a page of a browser asks the service for is recorded by programs that share no code with the emulator.

/** Two deletions, and four refusals. */
const WITHOUT_RECORD = 6

const WHOLE = { pages: 30, consumption_rows: 45, batch_predictions: 8, messages: 30, automations: 4 }

let browser: Awaited<ReturnType<typeof chromium.launch>>

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: chromiumPath() })
  return () => browser.close()
})

/** Sends the 300 requests from a page of the context. */
async function visitWith(context: BrowserContext, open: (page: Page) => Promise<void> = async () => {}) {
  const page = await context.newPage()
  await open(page)
  const through = async (base: string) => {
    await page.goto(base)
    return base
  }
  const { entries } = await recordTraffic(through, (url, init) =>
    page.evaluate(
      ([source, ...given]) => new Function(`return (${source})`)()(...given) as ReturnType<typeof send>,
      [send.toString(), url, init] as const,
    ),
  )
  return entries.length
}

async function recordHar(content: 'embed' | 'attach' | 'omit') {
  const path = join(temporaryDirectory(), 'traffic.har')
  const context = await browser.newContext({ recordHar: { path, content } })
  const sent = await visitWith(context)
  await context.close()
  return { path, sent }
}

async function importedFile(path: string) {
  const { code, err, counts, report } = await imported(readFileSync(path))
  expect([code, err]).toEqual([0, ''])
  return { counts, leftOut: report.left_out as Record<string, number>, entries: report.entries as number }
}

const missing = (leftOut: Record<string, number>) =>
  Object.fromEntries(Object.entries(leftOut).filter(([reason]) => reason.startsWith('body')))

test('what Playwright records with its bodies is imported whole', async () => {
  const { path, sent } = await recordHar('embed')
  const { counts, leftOut, entries } = await importedFile(path)
  expect(counts).toMatchObject(WHOLE)
  expect(missing(leftOut)).toEqual({})
  expect(entries).toBeGreaterThanOrEqual(sent)
})

test.for([
  { content: 'attach', reason: 'body in a file of its own' },
  { content: 'omit', reason: 'body left out, or only in part' },
] as const)(
  'of what Playwright records with $content, each missing body is counted with its reason',
  async ({ content, reason }) => {
    const { path, sent } = await recordHar(content)
    const { code, err } = await command(['import', path, '--out', join(temporaryDirectory(), 'out.json')])
    expect([code, Number(/(\d+) entries: body/.exec(err)?.[1]), err]).toEqual([
      ...[1, sent - WITHOUT_RECORD],
      expect.stringContaining(`entries: ${reason}`),
    ])
  },
)

test('what the developer tools of Chromium record is imported whole', async () => {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  let written = async () => ''
  await visitWith(context, async (page) => {
    written = await devtoolsRecording(await context.newCDPSession(page))
  })
  const path = join(temporaryDirectory(), 'traffic.har')
  writeFileSync(path, await written())
  const { counts, leftOut } = await importedFile(path)
  expect(counts).toMatchObject(WHOLE)
  expect(missing(leftOut)).toEqual({})
})
