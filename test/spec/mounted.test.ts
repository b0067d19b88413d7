import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import { connect } from '../../src/index.ts'
import { command } from '../cli/in-process.ts'
import { serving } from '../drift/proxy.ts'
import { batchEmulator } from '../support/batches.ts'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'
import { type Said, send } from '../support/send.ts'

const AT = '/tools/emulator'

/** An application of a user with the router at {@link AT}, and a client of it with a key. */
async function mounted({ emulator }: TestEmulator, before: RequestHandler[] = []) {
  const app = express()
  app.get('/own', (_req, res) => void res.send('own'))
  for (const handler of before) app.use(handler)
  app.use(AT, emulator.router())
  const port = await serving(app)
  const origin = `http://127.0.0.1:${port}`
  const by = (method: string) => (url: string, said?: Said) =>
    send({ emulator: { port } }, method, url.replace(origin, ''), said)
  return { origin, root: origin + AT, get: by('GET'), post: by('POST') }
}

test('a router works at a path of an Express application, whose own routes stay', async () => {
  const { get } = await mounted(await testEmulator())
  expect((await get('/own')).text).toBe('own')
  for (const path of ['/v1/data-views', '/@w1/v1/data-views', '/__emulator/ready', '/_x-steady/health'])
    expect([path, (await get(AT + path)).status]).toEqual([path, 200])
  expect((await get('/v1/data-views')).status).toBe(404)
})

test('connect() and commands take the address of a mounted router', async () => {
  const { root } = await mounted(await testEmulator())
  for (const url of [root, `${root}/`, `${root}/v1`, `${root}/__emulator`]) {
    const { defaultSandbox: sandbox, baseUrl } = connect(url)
    expect([baseUrl, sandbox.name]).toEqual([`${root}/v1`, 'default'])
    expect((await sandbox.clock.show()).rate).toBe(0)
  }
  const w1 = await connect(root, { apiKey: 'live_owner' }).sandbox('w1')
  expect([w1.baseUrl, connect(w1.baseUrl).defaultSandbox.name]).toEqual([`${root}/@w1/v1`, 'w1'])
  expect((await w1.fetch('/data-views')).status).toBe(200)
  for (const url of [root, `${root}/v1`, `${root}/@w1`])
    expect(await command(['clock', '--url', url])).toMatchObject({ code: 0, err: '' })
})

test.for([
  ['the default sandbox', ''],
  ['a sandbox of the path', '/@w1'],
] as const)('URLs of %s begin with the path of the mount', async ([, prefix]) => {
  const { root, get, post } = await mounted(await batchEmulator())
  const base = `${root}${prefix}/v1`
  const { redirect_url } = (await post(`${base}/connections`, { json: {} })).body
  expect(redirect_url.startsWith(`${root}${prefix}/consent/connections/`)).toBe(true)
  expect((await get(redirect_url)).text).toContain('<form method="post">')
  const { type, instance } = (await get(`${base}/batch-predictions/none`)).body
  expect(type).toBe(`${root}${prefix}/__emulator/problems/not_found`)
  expect(instance).toBe(`${AT}${prefix}/v1/batch-predictions/none`)
  expect((await get(type)).status).toBe(200)
})

test('the log, HAR, OpenAPI and the list of sandboxes have the whole path', async () => {
  const emulator = await testEmulator()
  const { root, get } = await mounted(emulator)
  await get(`${AT}/v1/data-views?limit=1`)
  const control = async (path: string) => (await get(`${AT}/__emulator${path}`)).body
  expect((await control('/requests')).data[0]).toMatchObject({ path: `${AT}/v1/data-views`, status: 200 })
  expect((await control('/requests/har')).log.entries[0].request.url).toBe(`${root}/v1/data-views?limit=1`)
  expect((await control('/sandboxes/default')).base_url_path).toBe(`${AT}/v1`)
  expect((await control('/openapi.json?api=workspace')).servers[0].url).toBe(`${root}/v1`)
  const found = await emulator.control('POST', '/requests/verify', { match: { path: '/v1/data-views' } })
  expect(found.body).toMatchObject({ passed: true })
})

test('the dashboard is below the path of the mount', async () => {
  const { get } = await mounted(await testEmulator())
  for (const path of ['', '/__emulator/ui']) {
    const { status, headers } = await get(AT + path, { headers: { accept: 'text/html' } })
    expect([status, headers.location]).toEqual([302, `${AT}/__emulator/ui/`])
  }
  const page = await get(`${AT}/__emulator/ui/`)
  for (const [, asset] of page.text.matchAll(/(?:href|src)="([^"]+)"/g))
    expect((await get(`${AT}/__emulator/ui/${asset}`)).status).toBe(200)
})

test('a path without a route gets a 404 that names the paths of the mount', async () => {
  const { get } = await mounted(await testEmulator())
  const { status, body } = await get(`${AT}/pages`)
  const message = `Nothing is served at ${AT}/pages: the API is below ${AT}/v1, the control interface below ${AT}/__emulator, the dashboard at ${AT}/__emulator/ui/. Nearest: POST ${AT}/v1/pages.`
  expect([status, body.message]).toEqual([404, message])
})

const TOO_LATE =
  /A body parser of the server that mounts the emulator has read the body .*mount before express\.json\(\)/

test.for<[parser: string, handler: RequestHandler]>([
  ['express.json()', express.json()],
  ['express.text()', express.text({ type: '*/*' })],
  ['a handler that reads it', (req, _res, next) => void req.on('data', () => {}).on('end', () => next())],
  ['a handler that reads on', (req, _res, next) => void next(void req.on('data', () => {}))],
])('%s before the mount refuses requests with a body, and says how to mount', async ([, parser]) => {
  const emulator = await testEmulator()
  const { get, post } = await mounted(emulator, [parser])
  for (const path of ['/v1/pages', '/__emulator/clock/advance']) {
    const { status, text } = await post(AT + path, { json: { name: 'Roof plan', by: '1h' } })
    expect(status).toBe(500)
    expect(text).toMatch(TOO_LATE)
  }
  expect((await get(`${AT}/v1/data-views`)).status).toBe(200)
  expect(emulator.state('pages')).toEqual([])
  const { body } = await emulator.control('GET', '/explain/default-000001')
  expect(body.error.mitigation).toContain('mount before express.json()')
})

test('a body parser before the mount does not come before the checks of host and origin', async () => {
  const { post } = await mounted(await testEmulator(), [express.json()])
  for (const path of ['/__emulator/reset', '/consent/x', '/__emulator/ui/']) {
    const { status, text } = await post(AT + path, { json: {}, headers: { origin: 'https://evil.example' } })
    expect([path, status]).toEqual([path, 403])
    expect(text).not.toMatch(TOO_LATE)
  }
  expect((await post(`${AT}/__emulator/reset`, { json: {} })).text).toMatch(TOO_LATE)
})

/** Makes the peer of a request another machine. */
function from(address: string): RequestHandler {
  return (req, _res, next) => {
    Object.defineProperty(req.socket, 'remoteAddress', { value: address })
    next()
  }
}

const TOKEN = 'token-of-this-test'

test.for<[peer: string, options: TestEmulatorOptions, clock: number, page: number]>([
  ['127.0.0.1', {}, 200, 200],
  ['::ffff:127.0.0.1', {}, 200, 200],
  ['::1', {}, 200, 200],
  ['192.0.2.7', {}, 403, 403],
  ['2001:db8::7', {}, 403, 403],
  ['192.0.2.7', { controlToken: TOKEN }, 401, 200],
])('a client at %s with %j reaches the control interface with %i, the dashboard with %i', async (row) => {
  const [peer, options, clock, page] = row
  const { get } = await mounted(await testEmulator(options), [from(peer)])
  const refused = await get(`${AT}/__emulator/clock`)
  expect(refused.status).toBe(clock)
  if (clock === 403) expect(refused.text).toMatch(/closed to other machines.*startEmulator\(\{ controlToken/)
  expect((await get(`${AT}/__emulator/ui/`)).status).toBe(page)
  expect((await get(`${AT}/v1/data-views`)).status).toBe(200)
  if (options.controlToken === undefined) return
  const authorization = `Bearer ${TOKEN}`
  expect((await get(`${AT}/__emulator/clock`, { authorization })).status).toBe(200)
})

test('a page of the same server may use the control interface, over TLS only one with https', async () => {
  const encrypted: RequestHandler = (req, _res, next) => {
    Object.assign(req.socket, { encrypted: true })
    next()
  }
  const { origin: plain, get } = await mounted(await testEmulator(), [encrypted])
  const statusFor = async (origin: string) =>
    (await get(`${AT}/__emulator/clock`, { headers: { origin } })).status
  expect([await statusFor(plain.replace('http:', 'https:')), await statusFor(plain)]).toEqual([200, 403])
})

test('a mounted router says that its emulator has been closed', async () => {
  const emulator = await testEmulator()
  const { get } = await mounted(emulator)
  await emulator.emulator.close()
  for (const path of ['/v1/data-views', '/__emulator/clock']) {
    const { status, body } = await get(AT + path)
    expect([status, body.message]).toEqual([503, 'This emulator has been closed.'])
  }
})

test('emulator.app is an Express application, also for supertest and without a port', async () => {
  const { emulator } = await testEmulator({ port: undefined, listen: false })
  const key = { authorization: 'Bearer live_owner' }
  const { body } = await request(emulator.app).get('/v1/data-views').set(key).expect(200)
  expect(body.object).toBe('list')
  await request(express().use(AT, emulator.app)).get(`${AT}/__emulator/ready`).expect(200)
  await request(emulator.app).post('/v1/pages').set(key).send({ name: 'Roof plan' }).expect(200)
  expect(emulator.app).toBe(emulator.app)
  expect(emulator.app).toHaveProperty('listen')
})
