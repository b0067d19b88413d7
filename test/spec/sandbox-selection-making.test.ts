import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { MAX_SANDBOXES } from '../../src/core/sandboxes/sandboxes.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { baseCollections, KEYS } from '../support/base-state.ts'
import { testEmulator } from '../support/emulator.ts'
import { lastEntry, made, sandboxOf, send } from '../support/send.ts'

test('requests that name a new sandbox at the same time share it', async () => {
  const emulator = await testEmulator()
  const posts = Array.from({ length: 20 }, (_, n) =>
    send(emulator, 'POST', '/@w1/v1/pages', { json: { name: `page ${n}` } }),
  )
  const responses = await Promise.all(posts)
  expect(responses.map(({ status }) => status)).toEqual(posts.map(() => 200))
  expect(sandboxOf(emulator, 'w1').store.rows('pages').size).toBe(20)
})

test('a request whose sandbox is deleted while its body arrives is a 409 without effect', async () => {
  const emulator = await testEmulator()
  await send(emulator, 'GET', '/@w1/v1/data-views')
  const { port } = emulator.emulator
  const headers = {
    authorization: `Bearer ${KEYS.KU}`,
    'content-type': 'application/json',
    'content-length': 12,
    expect: '100-continue',
  }
  const status = await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/@w1/v1/pages', method: 'POST', headers, agent: false }
    const req = request(options, (res) => res.resume().on('end', () => resolve(res.statusCode)))
    req.on('error', reject)
    // The emulator sends 100 Continue after it has selected the sandbox.
    req.on('continue', () =>
      emulator.emulator.sandboxes.delete('w1').then(() => req.end('{"name":"x"}'), reject),
    )
    req.flushHeaders()
  })
  expect([status, made(emulator)]).toEqual([409, []])
  expect(lastEntry(emulator.sandbox)).toMatchObject({ path: '/@w1/v1/pages', status: 409 })
})

test('a request without a key creates the sandbox that it names, because keys belong to a sandbox', {
  tags: ['R121'],
}, async () => {
  const emulator = await testEmulator()
  const response = await send(emulator, 'GET', '/@w1/v1/data-views', { authorization: undefined })
  expect([response.status, response.headers['x-emulator-request-id']]).toEqual([401, 'w1-000001'])
})

test('unknown routes and wrong methods are refused and logged in the selected sandbox', async () => {
  const emulator = await testEmulator()
  expect((await send(emulator, 'GET', '/@w1/v1/pagess')).status).toBe(404)
  expect((await send(emulator, 'PUT', '/v1/pages', { headers: { 'X-Emulator-Sandbox': 'w2' } })).status).toBe(
    405,
  )
  expect(lastEntry(sandboxOf(emulator, 'w1'))).toMatchObject({ path: '/@w1/v1/pagess', chosenBy: 'path' })
  expect(lastEntry(sandboxOf(emulator, 'w2'))).toMatchObject({ status: 405, chosenBy: 'header' })
  expect(emulator.sandbox.log.entries()).toEqual([])
})

test('a foreign Host creates no sandbox, and is logged in the named sandbox if it exists', async () => {
  const emulator = await testEmulator()
  const foreign = { headers: { host: 'example.com' } }
  expect((await send(emulator, 'GET', '/@w1/v1/data-views', foreign)).status).toBe(403)
  expect((await send(emulator, 'GET', '/@w1/__emulator/clock', foreign)).status).toBe(403)
  expect(made(emulator)).toEqual([])
  expect(lastEntry(emulator.sandbox)).toMatchObject({ status: 403, path: '/@w1/v1/data-views' })
  await send(emulator, 'GET', '/@w1/v1/data-views')
  await send(emulator, 'GET', '/@w1/v1/data-views', foreign)
  expect(lastEntry(sandboxOf(emulator, 'w1'))).toMatchObject({ status: 403, id: 'w1-000002' })
})

test('a page of a foreign origin creates no sandbox, but can use an existing one', async () => {
  const emulator = await testEmulator()
  const from = (origin: string) => ({ headers: { origin } })
  const refused = await send(emulator, 'GET', '/@w1/v1/data-views', from('https://example.com'))
  expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
  expect(refused.body.mitigation).toContain('--cors-origin https://example.com')
  expect((await send(emulator, 'GET', '/@w1/__emulator/clock', from('https://example.com'))).status).toBe(403)
  expect(made(emulator)).toEqual([])
  expect((await send(emulator, 'GET', '/@w1/v1/data-views', from('http://localhost:3000'))).status).toBe(200)
  expect((await send(emulator, 'GET', '/@w1/v1/data-views', from('https://example.com'))).status).toBe(200)
})

const OLD_BROWSER =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/14.1 Safari/605.1.15'

test.for([
  ['a new browser', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }],
  ['an old browser', { 'user-agent': OLD_BROWSER, accept: '*/*' }],
  ['a browser that names the page', { referer: 'https://example.com/', accept: '*/*' }],
  ['a browser that asks for an image', { accept: 'image/avif,image/webp,*/*;q=0.8' }],
  ['a browser with a password in the address', { 'user-agent': OLD_BROWSER, authorization: 'Basic YTpi' }],
] as const)(
  'an image that %s loads for a page creates no sandbox, but can read an existing one',
  async ([, headers]) => {
    const emulator = await testEmulator()
    const image = { headers, authorization: undefined }
    for (const path of ['/@w1/v1/data-views', '/@w1/__emulator/clock', '/@w1/__emulator/events']) {
      for (const method of ['GET', 'HEAD']) {
        const response = await send(emulator, method, path, image)
        expect([path, response.status]).toEqual([path, 403])
        if (method === 'GET')
          expect(response.body.mitigation).toContain('"workspace-emulator sandbox create w1"')
      }
    }
    expect(made(emulator)).toEqual([])
    await send(emulator, 'GET', '/@w1/v1/data-views')
    expect((await send(emulator, 'GET', '/@w1/__emulator/clock', image)).status).toBe(200)
  },
)

test.for([
  [
    'a key',
    'GET',
    '/@w1/v1/data-views',
    { 'user-agent': OLD_BROWSER, authorization: `Bearer ${KEYS.KU}` },
    200,
  ],
  ['another method', 'POST', '/@w1/__emulator/clock/advance', { 'user-agent': OLD_BROWSER }, 200],
  [
    'a custom header',
    'GET',
    '/v1/data-views',
    { 'user-agent': OLD_BROWSER, 'x-emulator-sandbox': 'w1' },
    401,
  ],
  [
    'an address that was typed',
    'GET',
    '/@w1/v1/data-views',
    { 'user-agent': OLD_BROWSER, 'sec-fetch-site': 'none' },
    401,
  ],
  [
    'a client that is no browser',
    'GET',
    '/@w1/v1/data-views',
    { 'user-agent': 'curl/8.5.0', accept: '*/*' },
    401,
  ],
] as const)(
  'a request that no image can send creates a sandbox: %s',
  async ([, method, path, headers, status]) => {
    const emulator = await testEmulator()
    const json = method === 'POST' ? { by: '1h' } : undefined
    const response = await send(emulator, method, path, { headers, json, authorization: undefined })
    expect([response.status, made(emulator)]).toEqual([status, ['w1']])
  },
)

test('a preflight creates no sandbox, and allows the header that selects one', async () => {
  const emulator = await testEmulator()
  const headers = {
    origin: 'http://localhost:3000',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization, x-emulator-sandbox',
  }
  const response = await send(emulator, 'OPTIONS', '/@w1/v1/data-views', {
    headers,
    authorization: undefined,
  })
  expect([response.status, response.headers['access-control-allow-headers']]).toEqual([
    204,
    'authorization, x-emulator-sandbox',
  ])
  expect(response.headers['x-ratelimit-limit']).toMatch(/^\d+$/)
  expect(made(emulator)).toEqual([])
})

test.for([
  '/@w1',
  '/@w1/',
  '/@w1/pages',
  '/@w1/v2/pages',
  '/@w1/v11',
  '/@w1/_x-steady/health',
  '/@',
  '/@W1',
  '/@w1?/v1/',
])('only the API and the control interface are served below a sandbox: %s', async (path) => {
  const emulator = await testEmulator()
  const response = await send(emulator, 'GET', path)
  expect([response.status, response.body.error]).toEqual([404, 'route_not_found'])
  expect(response.body.message).toContain('In a sandbox, the same paths are below /@name.')
  expect(made(emulator)).toEqual([])
  expect(lastEntry(emulator.sandbox)?.path).toBe(path.split('?')[0])
})

test('sandboxes beyond the maximum are refused, and the others continue', async () => {
  const emulator = await testEmulator()
  await send(emulator, 'GET', '/@w1/v1/data-views')
  const [opened] = emulator.emulator.sandboxes.list()
  const nothing = async () => {}
  for (let n = 2; n < MAX_SANDBOXES; n++) {
    // Only the name and retire() of these sandboxes are used.
    const sandbox = { ...opened, name: `full-${n}`, retire: () => {} } as unknown as Sandbox
    emulator.emulator.sandboxes.add({ sandbox, close: nothing, remove: nothing } as never, false)
  }
  const refused = await send(emulator, 'GET', '/@w2/v1/data-views')
  expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
  expect(refused.body.mitigation).toContain('"workspace-emulator sandbox delete NAME"')
  expect((await send(emulator, 'POST', '/@w2/__emulator/reset')).status).toBe(409)
  expect((await send(emulator, 'GET', '/@w1/v1/data-views')).status).toBe(200)
})

test('fixtures that become invalid refuse new sandboxes with the reason, until they are fixed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-selection-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'fixtures.json')
  const write = (text: string) => writeFileSync(file, text)
  const whole = JSON.stringify({ collections: baseCollections })
  write(whole)
  let now = Date.parse('2026-03-01T12:00:00Z')
  const running = await openEmulator({ port: 0, ephemeral: true, fixtures: file, hostTime: () => now })
  onTestFinished(() => running.close())
  const emulator = { emulator: running }
  write('{')
  // A starting state that is a minute old is built again.
  now += 60_000
  for (const [method, path] of [
    ['GET', '/@w1/v1/data-views'],
    ['POST', '/@w1/__emulator/clock/advance'],
  ] as const) {
    const refused = await send(emulator, method, path)
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
    expect(refused.body.message).toContain(
      `cannot be created, because its starting state is not valid: ${file}: /:`,
    )
  }
  expect(made(emulator)).toEqual([])
  expect((await send(emulator, 'GET', '/v1/data-views')).status).toBe(200)
  write(whole)
  expect((await send(emulator, 'GET', '/@w1/v1/data-views')).status).toBe(200)
})
