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

async function tried(
  page: Page | Frame,
  { baseUrl }: TestEmulator,
  init: Init = AUTHORIZED,
): Promise<string> {
  return page.evaluate(fetched, [`${baseUrl}/data-views`, init] as const)
}

/** The requests in the log: method, origin of a page that was refused, and the fix. */
async function logged(emulator: TestEmulator): Promise<readonly unknown[]> {
  const { data } = (await emulator.control('GET', '/requests')).body
  return data.map(({ method, cors }: { method: string; cors?: { origin: string; mitigation: string } }) =>
    cors === undefined ? [method] : [method, cors.origin, cors.mitigation],
  )
}

const OPAQUE =
  'Open the page at http://localhost instead, or start the emulator with --cors-origin null (corsOrigins in JavaScript), which allows all such pages.'

test.for([
  ['a file', fromFile],
  ['a sandboxed frame', sandboxed],
  ['about:blank', newPage],
] as const)(
  'the preflight of %s has the origin null, is refused, and is in the log with the fix',
  async ([, open]) => {
    const [emulator, page] = [await testEmulator(), await open()]
    expect(await tried(page, emulator)).toBe(FAILED)
    expect(await logged(emulator)).toEqual([['OPTIONS', 'null', OPAQUE]])
    const allowing = await testEmulator({ corsOrigins: ['null'] })
    expect(await tried(page, allowing)).toBe('200 cors')
    expect(await logged(allowing)).toEqual([['GET']])
  },
)

test('a page of another origin is refused, and works when it is started as the log says', async () => {
  const page = await served('app.example')
  const origin = new URL(page.url()).origin
  const emulator = await testEmulator()
  expect(await tried(page, emulator)).toBe(FAILED)
  // Without a header that needs a preflight, the request is performed.
  expect(await tried(page, emulator, {})).toBe(FAILED)
  const fix = `Start the emulator with --cors-origin ${origin} (corsOrigins in JavaScript).`
  expect(await logged(emulator)).toEqual([
    ['OPTIONS', origin, fix],
    ['GET', origin, fix],
  ])
  const allowing = await testEmulator({ corsOrigins: [origin] })
  expect(await tried(page, allowing)).toBe('200 cors')
  expect(await logged(allowing)).toEqual([['GET']])
})

test('a response without the header Access-Control-Allow-Origin cannot be read, and the log says so', async () => {
  const [emulator, page] = [await testEmulator(), await served('localhost')]
  armRule(emulator.sandbox, { times: 1, do: [{ head: { remove: ['access-control-allow-origin'] } }] })
  expect(await tried(page, emulator)).toBe(FAILED)
  expect(await tried(page, emulator)).toBe('200 cors')
  expect(await logged(emulator)).toEqual([
    [
      'GET',
      new URL(page.url()).origin,
      'Remove the fault rule, or let the response keep exactly one such header.',
    ],
    ['GET'],
  ])
})

test('a fetch with no-cors loses the header Authorization, and the log says so', async () => {
  const [emulator, page] = [await testEmulator(), await served('localhost')]
  expect(await tried(page, emulator, { ...AUTHORIZED, mode: 'no-cors' })).toBe('0 opaque')
  expect(await logged(emulator)).toEqual([['GET', null, "Remove mode: 'no-cors' from the page."]])
})

test.for(['PUT', 'patch'])('a preflight for the method %s is refused, and is in the log', async (method) => {
  const [emulator, page] = [await testEmulator(), await served('localhost')]
  expect(await tried(page, emulator, { ...AUTHORIZED, method })).toBe(FAILED)
  expect(await logged(emulator)).toMatchObject([['OPTIONS', new URL(page.url()).origin, expect.any(String)]])
})

test('requests of a page of this machine, and its images and links, are not marked', async () => {
  const [emulator, page] = [await testEmulator(), await served('localhost')]
  expect(await tried(page, emulator)).toBe('200 cors')
  await page.setContent(`<img src="${emulator.baseUrl}/image"><a href="${emulator.baseUrl}/link">link</a>`)
  await page.getByRole('link').click()
  await page.waitForURL('**/link')
  const { data } = (await emulator.control('GET', '/requests')).body
  const paths: string[] = data.map(({ path }: { path: string }) => path)
  // Chromium may also ask for an icon of the page that it shows.
  expect(paths.filter((path) => path.startsWith('/v1')).sort()).toEqual([
    '/v1/data-views',
    '/v1/image',
    '/v1/link',
  ])
  expect(data.filter((entry: object) => 'cors' in entry)).toEqual([])
})

/** Runs in the page: reads and changes the clock, and opens the stream of events. */
async function controlled([url, token]: readonly [string, string]): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` }
  try {
    const clock = await fetch(`${url}/clock`, { headers })
    const json = { ...headers, 'Content-Type': 'application/json' }
    const changed = await fetch(`${url}/clock`, { method: 'PATCH', headers: json, body: '{"rate": 7}' })
    const { rate } = (await changed.json()) as { rate: number }
    return `${clock.status} ${rate}`
  } catch (error) {
    return (error as Error).message
  }
}

test('a page may use the control interface only if its origin is allowed', async () => {
  const [page, other] = [await served('localhost'), await served('app.example')]
  const token = 'token-of-this-test'
  const { emulator } = await testEmulator({
    controlToken: token,
    controlOrigins: [new URL(page.url()).origin],
    corsOrigins: ['*', 'null'],
  })
  const use = (from: Page | Frame) => from.evaluate(controlled, [emulator.controlUrl, token] as const)
  for (const foreign of [other, await newPage(), await sandboxed(), await served('localhost')])
    expect(await use(foreign)).toBe(FAILED)
  expect(emulator.sandbox.clock.rate).toBe(0)
  expect(await use(page)).toBe('200 7')
})

test('a page whose origin is allowed can follow the events', async () => {
  const page = await served('localhost')
  const { emulator } = await testEmulator({ controlOrigins: [new URL(page.url()).origin] })
  const first = await page.evaluate(
    (url) =>
      new Promise((resolve) => {
        const source = new EventSource(url)
        source.addEventListener('hello', ({ type }) => {
          source.close()
          resolve(type)
        })
        source.addEventListener('error', () => resolve('refused'))
      }),
    `${emulator.controlUrl}/events`,
  )
  expect(first).toBe('hello')
})
