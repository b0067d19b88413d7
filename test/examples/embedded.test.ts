import https from 'node:https'
import { text } from 'node:stream/consumers'
import { aBatch, type Emulator, startEmulator } from 'agent-workspace-emulator'
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

/** A route handler of Next.js, `app/v1/[...path]/route.ts`. */
const route = (request: Request, _context: { readonly params: Promise<object> }) => emulator.fetch(request)

test('a route handler of Next.js serves the emulator at the same origin as the page', async () => {
  const ask = (path: string, init: RequestInit = {}) =>
    route(new Request(`http://localhost:3000${path}`, { ...init, headers: { ...AUTH, ...init.headers } }), {
      params: Promise.resolve({}),
    })
  const body = JSON.stringify(aBatch({ items: 1 }))
  const headers = { 'content-type': 'application/json' }
  const created = await ask('/v1/batch-predictions', { method: 'POST', headers, body })
  const { id } = (await created.json()) as { readonly id: string }
  await emulator.defaultSandbox.clock.advance({ until: { batch: id } })
  const shown = (await (await ask(`/v1/batch-predictions/${id}`)).json()) as { readonly results_url: string }
  const results = await ask(shown.results_url)
  expect(results.headers.get('content-type')).toContain('ndjson')
  expect((await results.text()).trim().split('\n')).toHaveLength(1)
})
