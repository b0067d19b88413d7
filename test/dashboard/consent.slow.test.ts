import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Dashboard, openDashboard, violations } from './browser.ts'

let dashboard: Dashboard
let app: Server
let home: string

beforeAll(async () => {
  dashboard = await openDashboard()
  app = createServer((req, res) => void appPage(new URL(req.url ?? '/', home), res))
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  home = `http://localhost:${(app.address() as AddressInfo).port}`
})

afterAll(async () => {
  await dashboard?.close()
  app?.close()
})

/** A small application: it starts a flow, and completes it in the callback of the provider. */
async function appPage(url: URL, res: ServerResponse): Promise<void> {
  const { client, emulator } = dashboard
  const html = (text: string) => res.setHeader('content-type', 'text/html').end(`<title>App</title>${text}`)
  if (url.pathname === '/start') {
    const flow = await client.defaultSandbox.mcpServers.startOauth({
      server_id: 'mcp-drawings',
      redirect_uri: `${home}/cb`,
    })
    res.writeHead(302, { location: flow.authorize_url }).end()
  } else if (url.pathname === '/cb') {
    const { error, ...proof } = Object.fromEntries(url.searchParams)
    if (error !== undefined) return void html(`<h1>Not connected: ${error}</h1>`)
    const response = await fetch(`${emulator.baseUrl}/organization/mcp-servers/mcp-drawings/oauth-callback`, {
      method: 'POST',
      headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
      body: JSON.stringify({ ...proof, redirect_uri: `${home}/cb` }),
    })
    // A callback often redirects to another port, which serves the pages of the application.
    res
      .writeHead(303, { location: `${home.replace('localhost', '127.0.0.1')}/done?${response.status}` })
      .end()
  } else html(url.pathname === '/done' ? `<h1>Connected: ${url.search}</h1>` : '<a href="/start">Connect</a>')
}

test('an application starts a flow, a user allows it with a click, and returns connected', async () => {
  const { page } = dashboard
  await page.goto(home)
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('heading', { name: /^Connect .* to / }).waitFor()
  await page.getByText(`${home}/cb`).waitFor()
  expect(await violations(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByRole('heading', { name: 'Connected: ?200' }).waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('a user can deny a flow with the keyboard, and the application gets the error', async () => {
  const { page } = dashboard
  await page.goto(`${home}/start`)
  await page.getByRole('heading', { name: /^Connect / }).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Not connected: access_denied' }).waitFor()
})

test('a server error can be selected from the list of errors', async () => {
  const { page } = dashboard
  await page.goto(`${home}/start`)
  await page.getByText('Return an error instead').click()
  await page.getByRole('button', { name: 'Server error' }).click()
  await page.getByRole('heading', { name: 'Not connected: server_error' }).waitFor()
})

test('a used nonce has no effect, and the page reports it', async () => {
  const { page, problems } = dashboard
  await page.goto(`${home}/start`)
  const address = page.url()
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByRole('heading', { name: 'Not connected: access_denied' }).waitFor()
  await page.goto(address)
  await page.getByRole('heading', { name: 'This page cannot continue' }).waitFor()
  await page.getByText('a flow can be decided only once').waitFor()
  expect(await page.getByRole('button').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  // Requests to the application are expected, and Chromium logs the expected 410.
  expect(problems.filter((problem) => !/^a request to|status of 410/.test(problem))).toEqual([])
})

test('a connection without a return URL can be allowed, and the page shows that it is done', async () => {
  const { page, emulator } = dashboard
  const response = await fetch(`${emulator.baseUrl}/connections`, {
    method: 'POST',
    headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
    body: JSON.stringify({ connector_id: '<img src=x onerror=alert(1)>' }),
  })
  const { redirect_url } = (await response.json()) as { redirect_url: string }
  await page.goto(redirect_url)
  await page.getByRole('heading', { name: 'Connect <img src=x onerror=alert(1)> to' }).waitFor()
  await page.getByRole('button', { name: 'Allow' }).first().click()
  await page.getByRole('heading', { name: 'Access is granted' }).waitFor()
  expect(await violations(page)).toEqual([])
})
