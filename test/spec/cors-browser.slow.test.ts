import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Frame, type Page } from '@playwright/test'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { chromiumPath } from '../examples/browser/chromium.ts'
import { KEYS } from '../support/base-state.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'

// Compares the log with what Chromium really does: each request that it refuses is marked, and no other.
let browser: Browser

beforeAll(async () => {
  const args = ['--host-resolver-rules=MAP app.example 127.0.0.1']
  browser = await chromium.launch({ executablePath: chromiumPath(), args })
})

afterAll(() => browser?.close())

async function newPage(): Promise<Page> {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  return page
}

/** A page that a server of this machine serves under a host name. */
async function served(host: string): Promise<Page> {
  const server = createServer((_req, res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const page = await newPage()
  await page.goto(`http://${host}:${(server.address() as AddressInfo).port}`)
  return page
}

async function fromFile(): Promise<Page> {
  const folder = mkdtempSync(join(tmpdir(), 'cors-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'page.html'), '<p>')
  const page = await newPage()
  await page.goto(pathToFileURL(join(folder, 'page.html')).href)
  return page
}

async function sandboxed(): Promise<Frame> {
  const page = await served('localhost')
  await page.setContent('<iframe sandbox="allow-scripts" srcdoc="<p>"></iframe>')
  return page.frames().find((frame) => frame !== page.mainFrame()) as Frame
}

interface Init {
  readonly method?: string
  readonly mode?: 'no-cors'
  readonly headers?: Readonly<Record<string, string>>
}

/** Runs in the page. @returns the status and type of the response, or the message of the error */
async function fetched([url, init]: readonly [string, Init]): Promise<string> {
  try {
    const { status, type } = await fetch(url, init as RequestInit)
    return `${status} ${type}`
  } catch (error) {
    return (error as Error).message
  }
}

const AUTHORIZED = { headers: { Authorization: `Bearer ${KEYS.KU}` } }
const FAILED = 'Failed to fetch'

async function tried(page: Page | Frame, { baseUrl }: TestEmulator, init: Init = AUTHORIZED) {
  return page.evaluate(fetched, [`${baseUrl}/data-views`, init] as const)
}

/** The requests in the log: method, origin of a page that was refused, and the fix. */
async function logged(emulator: TestEmulator): Promise<readonly unknown[]> {
  const { data } = (await emulator.control('GET', '/requests')).body
  return data.map(({ method, cors }: { method: string; cors?: { origin: string; mitigation: string } }) =>
    cors === undefined ? [method] : [method, cors.origin, cors.mitigation],
  )
}

const originOf = (page: Page | Frame): string => {
  const { origin } = new URL(page.url())
  return origin.startsWith('http') ? origin : 'null'
}

const home = () => served('localhost')
const foreign = () => served('app.example')

const OPAQUE =
  'Open the page at http://localhost instead, or start the emulator with --cors-origin null (corsOrigins in JavaScript), which allows all such pages.'
const FLAG =
  /^Start the emulator with --cors-origin http:\/\/app\.example:\d+ \(corsOrigins in JavaScript\)\.$/

test.for<[string, open: () => Promise<Page | Frame>, Init, method: string, fix: string | RegExp]>([
  ['a file', fromFile, AUTHORIZED, 'OPTIONS', OPAQUE],
  ['a sandboxed frame', sandboxed, AUTHORIZED, 'OPTIONS', OPAQUE],
  ['about:blank', newPage, AUTHORIZED, 'OPTIONS', OPAQUE],
  ['another origin', foreign, AUTHORIZED, 'OPTIONS', FLAG],
  // Without a header that needs a preflight, the request is performed.
  ['another origin without a key', foreign, {}, 'GET', FLAG],
  ['this machine by PUT', home, { ...AUTHORIZED, method: 'PUT' }, 'OPTIONS', /only the methods GET, HEAD/],
  ['this machine by patch', home, { ...AUTHORIZED, method: 'patch' }, 'OPTIONS', /capital letters: PATCH/],
])('a request of %s fails, and is in the log with the fix', async ([, open, init, method, fix]) => {
  const [emulator, page] = [await testEmulator(), await open()]
  expect(await tried(page, emulator, init)).toBe(FAILED)
  const text = typeof fix === 'string' ? fix : expect.stringMatching(fix)
  expect(await logged(emulator)).toEqual([[method, originOf(page), text]])
})

test.for([
  ['a file', fromFile],
  ['another origin', foreign],
] as const)('a page of %s works once its origin is allowed, and is not marked', async ([, open]) => {
  const page = await open()
  const emulator = await testEmulator({ corsOrigins: [originOf(page)] })
  expect(await tried(page, emulator)).toBe('200 cors')
  expect(await logged(emulator)).toEqual([['GET']])
})

test('a response without the header Access-Control-Allow-Origin cannot be read, and the log says so', async () => {
  const [emulator, page] = [await testEmulator(), await home()]
  armRule(emulator.sandbox, { times: 1, do: [{ head: { remove: ['access-control-allow-origin'] } }] })
  expect(await tried(page, emulator)).toBe(FAILED)
  expect(await tried(page, emulator)).toBe('200 cors')
  const fix = 'Remove the fault rule, or let the response keep exactly one such header.'
  expect(await logged(emulator)).toEqual([['GET', originOf(page), fix], ['GET']])
})

test('a fetch with no-cors loses the header Authorization, and the log says so', async () => {
  const [emulator, page] = [await testEmulator(), await home()]
  expect(await tried(page, emulator, { ...AUTHORIZED, mode: 'no-cors' })).toBe('0 opaque')
  expect(await logged(emulator)).toEqual([['GET', null, "Remove mode: 'no-cors' from the page."]])
})

test('requests of a page of this machine, and its images and links, are not marked', async () => {
  const [emulator, page] = [await testEmulator(), await home()]
  expect(await tried(page, emulator)).toBe('200 cors')
  await page.setContent(`<img src="${emulator.baseUrl}/image"><a href="${emulator.baseUrl}/link">link</a>`)
  await page.getByRole('link').click()
  await page.waitForURL('**/link')
  const { data } = (await emulator.control('GET', '/requests')).body
  const paths: string[] = data.map(({ path }: { path: string }) => path)
  // Chromium may also ask for an icon of the page that it shows.
  expect(paths).toEqual(expect.arrayContaining(['/v1/data-views', '/v1/image', '/v1/link']))
  expect(data.filter((entry: object) => 'cors' in entry)).toEqual([])
})

/** Runs in the page: changes the clock, and opens the stream of events. @returns the first event, or what failed */
async function controlled(url: string): Promise<string> {
  try {
    const headers = { 'Content-Type': 'application/json' }
    await fetch(`${url}/clock`, { method: 'PATCH', headers, body: '{"rate": 7}' })
  } catch (error) {
    return (error as Error).message
  }
  return new Promise((resolve) => {
    const source = new EventSource(`${url}/events`)
    const end = ({ type }: Event) => {
      source.close()
      resolve(type)
    }
    source.addEventListener('hello', end)
    source.addEventListener('error', end)
  })
}

test('a page may use the control interface and follow its events only if its origin is allowed', async () => {
  const page = await home()
  const { emulator } = await testEmulator({ controlOrigins: [originOf(page)], corsOrigins: ['*', 'null'] })
  const use = (from: Page | Frame) => from.evaluate(controlled, emulator.controlUrl)
  for (const other of [await foreign(), await newPage(), await sandboxed(), await home()])
    expect(await use(other)).toBe(FAILED)
  expect(emulator.sandbox.clock.rate).toBe(0)
  expect(await use(page)).toBe('hello')
  expect(emulator.sandbox.clock.rate).toBe(7)
})
