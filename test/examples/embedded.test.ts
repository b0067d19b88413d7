import https from 'node:https'
import { text } from 'node:stream/consumers'
import { type Emulator, startEmulator } from 'agent-workspace-emulator'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'

const BASE = 'https://workspace.example/v1'
const AUTH = { authorization: 'Bearer live_demo_owner' }

let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({
    listen: false,
    ephemeral: true,
    rate: 0,
    allowHosts: ['workspace.example'],
  })
})

afterEach(() => emulator.defaultSandbox.reset())

afterAll(() => emulator.close())

/** Mock Service Worker in front of every request of this process. */
function intercepted(handle = emulator.fetch): void {
  const server = setupServer(
    http.get('https://other.example/', () => HttpResponse.text('another service')),
    http.all(`${BASE}/*`, ({ request }) => handle(request)),
  )
  server.listen({ onUnhandledRequest: 'error' })
  onTestFinished(() => server.close())
}

test('Mock Service Worker sends requests of fetch to the emulator', async () => {
  intercepted()
  expect(await (await fetch('https://other.example/')).text()).toBe('another service')
  const created = await fetch(`${BASE}/pages`, {
    method: 'POST',
    headers: { ...AUTH, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Roof plan' }),
  })
  expect([created.status, await created.json()]).toMatchObject([200, { name: 'Roof plan' }])
  expect(await emulator.defaultSandbox.requests.count({ operation: 'pages.create' })).toMatchObject({
    matched: 1,
  })
})

test('Mock Service Worker sends requests of node:https to the emulator', async () => {
  intercepted()
  const body = await new Promise<string>((resolve, reject) => {
    https.get(`${BASE}/data-views`, { headers: AUTH }, (res) => resolve(text(res))).on('error', reject)
  })
  expect(JSON.parse(body).object).toBe('list')
})

test('under Mock Service Worker, a lost connection rejects as without it', async () => {
  // Mock Service Worker turns the rejection of a handler into a 500, and Response.error() into a rejection of the client.
  intercepted((request) => emulator.fetch(request).catch(() => Response.error()))
  await emulator.defaultSandbox.faults.preset('rst-before-headers')
  await expect(fetch(`${BASE}/data-views`, { headers: AUTH })).rejects.toThrow(TypeError)
  expect((await fetch(`${BASE}/data-views`, { headers: AUTH })).status).toBe(200)
})

/** The part of Hono that matters here: `app.mount(path, handler)` gives the handler a request without the path. */
function mountInHono(path: string, handler: (request: Request, env: object) => Response | Promise<Response>) {
  return (request: Request, env: object) => {
    const url = new URL(request.url)
    url.pathname = url.pathname.slice(path.length)
    return handler(new Request(url, request), env)
  }
}

test("Hono's app.mount serves the emulator", async () => {
  const app = mountInHono('/emulator', emulator.fetch as (request: Request) => Promise<Response>)
  const request = new Request('http://localhost:3000/emulator/v1/data-views', { headers: AUTH })
  const response = await app(request, { bindings: true })
  expect([response.status, await response.json()]).toMatchObject([200, { object: 'list' }])
})
