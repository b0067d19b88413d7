import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from '@playwright/test'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { chromiumPath } from '../../examples/browser/chromium.ts'
import { KEYS } from '../../support/base-state.ts'
import { viaFetch } from '../../support/wire-client.ts'
import { subjectOf } from './setup.ts'

let browser: Browser

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: chromiumPath() })
})

afterAll(() => browser?.close())

/** Sends a request with the preset armed, and one after it, from a page of another origin, whose POST needs a preflight. */
async function inPage(preset: string, method: 'GET' | 'POST') {
  const { sandbox, baseUrl, arm } = await subjectOf(viaFetch)
  const page = await frontend()
  await arm(preset)
  const url = `${baseUrl}/${method === 'POST' ? 'pages' : 'data-views'}`
  const request = () => page.evaluate(fetched, [url, method, KEYS.KU] as const)
  const first = await request()
  const made = sandbox.store.rows('pages').size
  return { first, made, then: await request() }
}

async function frontend(): Promise<Page> {
  const server = createServer((_req, res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const page = await browser.newPage()
  onTestFinished(async () => {
    await page.close()
    server.close()
  })
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return page
}

/** Runs in the page. */
async function fetched([url, method, key]: readonly [string, string, string]): Promise<unknown> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const body = method === 'POST' ? { body: '{"name":"x"}' } : {}
  try {
    const response = await fetch(url, { method, headers, ...body })
    return await response.text().then(
      () => response.status,
      () => `${response.status}, then broken`,
    )
  } catch (error) {
    return (error as Error).name
  }
}

test.for(['GET', 'POST'] as const)(
  'browser-network-error: a %s of a page rejects with a TypeError, once, and has no effect in the API',
  async (method) => {
    const { first, made, then } = await inPage('browser-network-error', method)
    expect([first, made, then]).toEqual(['TypeError', 0, 200])
  },
)

test.for([
  ['fin-before-headers', 200, 2],
  ['rst-before-headers', 200, 2],
  ['stale-keepalive', 200, 1],
  ['cut-after-headers', '200, then broken', 1],
  ['cut-mid-body', '200, then broken', 1],
  ['chunked-truncated', '200, then broken', 1],
  ['content-length-too-long', '200, then broken', 1],
  ['offline', 'TypeError', 0],
] as const)(
  '%s: a POST of a page gets %s after its preflight, and creates %i pages',
  async ([preset, first, made]) => {
    expect(await inPage(preset, 'POST')).toMatchObject({ first, made })
  },
)
