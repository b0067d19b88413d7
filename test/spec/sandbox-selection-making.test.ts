import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { MAX_SANDBOXES } from '../../src/core/sandboxes/sandboxes.ts'
import { KEYS } from '../support/base-state.ts'
import { testEmulator } from '../support/emulator.ts'
import { lastEntry, made, sandboxOf, send } from '../support/send.ts'

const VIEWS = '/@w1/v1/data-views'

test('requests that name a new sandbox at the same time share it', async () => {
  const emulator = await testEmulator()
  const posts = Array.from({ length: 20 }, (_, n) =>
    send(emulator, 'POST', '/@w1/v1/pages', { json: { name: `page ${n}` } }),
  )
  const responses = await Promise.all(posts)
  expect(responses.map(({ status }) => status)).toEqual(posts.map(() => 200))
  expect(sandboxOf(emulator, 'w1').store.rows('pages').size).toBe(20)
})

test.for([
  ['/@w1/v1/pages', 409, 'w1'],
  ['/@w1/__emulator/clock/advance', 404, 'The sandbox \\"w1\\" has been removed.'],
] as const)(
  'a POST to %s whose sandbox is deleted while its body arrives is a %i without effect',
  async ([path, status, message]) => {
    const emulator = await testEmulator()
    await send(emulator, 'GET', VIEWS)
    const { port, sandboxes } = emulator.emulator
    const body = path.endsWith('pages') ? '{"name":"x"}' : '{"by":"1h"}'
    const headers = {
      authorization: `Bearer ${KEYS.KU}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    }
    const received = await new Promise<[status: number | undefined, text: string]>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent: false }
      const req = request(options, async (res) => resolve([res.statusCode, await text(res)]))
      req.on('error', reject)
      // The emulator sends 100 Continue after it has selected the sandbox.
      req.on('continue', () => sandboxes.delete('w1').then(() => req.end(body), reject))
      req.flushHeaders()
    })
    expect(received).toEqual([status, expect.stringContaining(message)])
    expect(made(emulator)).toEqual([])
    if (status === 409) expect(lastEntry(emulator.sandbox)).toMatchObject({ path, status })
  },
)

test('unknown routes and wrong methods are refused and logged in the selected sandbox', async () => {
  const emulator = await testEmulator()
  const inW2 = { headers: { 'X-Emulator-Sandbox': 'w2' } }
  expect((await send(emulator, 'GET', '/@w1/v1/pagess')).status).toBe(404)
  expect((await send(emulator, 'PUT', '/v1/pages', inW2)).status).toBe(405)
  expect(lastEntry(sandboxOf(emulator, 'w1'))).toMatchObject({ path: '/@w1/v1/pagess', chosenBy: 'path' })
  expect(lastEntry(sandboxOf(emulator, 'w2'))).toMatchObject({ status: 405, chosenBy: 'header' })
  expect(emulator.sandbox.log.entries()).toEqual([])
})

test('a foreign Host creates no sandbox, and is logged in the named sandbox if it exists', async () => {
  const emulator = await testEmulator()
  const foreign = { headers: { host: 'example.com' } }
  for (const path of ['/@w1/__emulator/clock', VIEWS])
    expect((await send(emulator, 'GET', path, foreign)).status).toBe(403)
  expect(made(emulator)).toEqual([])
  expect(lastEntry(emulator.sandbox)).toMatchObject({ status: 403, path: VIEWS })
  await send(emulator, 'GET', VIEWS)
  await send(emulator, 'GET', VIEWS, foreign)
  expect(lastEntry(sandboxOf(emulator, 'w1'))).toMatchObject({ status: 403, id: 'w1-000002' })
})

test('a page of a foreign origin creates no sandbox, but can use an existing one', async () => {
  const emulator = await testEmulator()
  const from = (origin: string) => ({ headers: { origin } })
  const foreign = from('https://example.com')
  const refused = await send(emulator, 'GET', VIEWS, foreign)
  expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
  expect(refused.body.mitigation).toContain('--cors-origin https://example.com')
  expect((await send(emulator, 'GET', '/@w1/__emulator/clock', foreign)).status).toBe(403)
  expect(made(emulator)).toEqual([])
  for (const page of [from('http://localhost:3000'), foreign])
    expect((await send(emulator, 'GET', VIEWS, page)).status).toBe(200)
})

const OLD_BROWSER = { 'user-agent': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605.1.15' }

test.for([
  ['a new browser', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }, 403],
  ['an old browser', { ...OLD_BROWSER, accept: '*/*' }, 403],
  ['a browser that names the page', { referer: 'https://example.com/', accept: '*/*' }, 403],
  ['a browser that asks for an image', { accept: 'image/avif,image/webp,*/*;q=0.8' }, 403],
  ['a browser with a password in the address', { ...OLD_BROWSER, authorization: 'Basic YTpi' }, 403],
  ['a browser with a key', { ...OLD_BROWSER, authorization: `Bearer ${KEYS.KU}` }, 200],
  ['a browser with a custom header', { ...OLD_BROWSER, 'x-emulator-sandbox': 'w1' }, 401],
  ['a browser whose user typed the address', { ...OLD_BROWSER, 'sec-fetch-site': 'none' }, 401],
  ['a client that is no browser', { 'user-agent': 'curl/8.5.0', accept: '*/*' }, 401],
] as const)('a GET of %s, %j, gets a %i, and a 403 creates no sandbox', async ([, headers, status]) => {
  const emulator = await testEmulator()
  const response = await send(emulator, 'GET', VIEWS, { headers, authorization: undefined })
  expect([response.status, made(emulator)]).toEqual([status, status === 403 ? [] : ['w1']])
})

test('an image creates no sandbox at any path, but can read an existing one; a POST creates one', async () => {
  const emulator = await testEmulator()
  const image = { headers: OLD_BROWSER, authorization: undefined }
  for (const path of [VIEWS, '/@w1/__emulator/clock', '/@w1/__emulator/events']) {
    expect((await send(emulator, 'HEAD', path, image)).status).toBe(403)
    const { status, body } = await send(emulator, 'GET', path, image)
    expect([path, status]).toEqual([path, 403])
    expect(body.mitigation).toContain('"workspace-emulator sandbox create w1"')
  }
  expect(made(emulator)).toEqual([])
  await send(emulator, 'POST', '/@w1/__emulator/clock/advance', { ...image, json: { by: '1h' } })
  expect(made(emulator)).toEqual(['w1'])
  expect((await send(emulator, 'GET', '/@w1/__emulator/clock', image)).status).toBe(200)
})

test.for(['/@w1', '/@w1/', '/@w1/v2/pages', '/@w1/v11', '/@w1/_x-steady/health', '/@', '/@W1', '/@w1?/v1/'])(
  'only the API and the control interface are served below a sandbox: %s',
  async (path) => {
    const emulator = await testEmulator()
    const response = await send(emulator, 'GET', path)
    expect([response.status, response.body.error]).toEqual([404, 'route_not_found'])
    expect(response.body.message).toContain('In a sandbox, the same paths are below /@name.')
    expect(made(emulator)).toEqual([])
    expect(lastEntry(emulator.sandbox)?.path).toBe(path.split('?')[0])
  },
)

test('sandboxes beyond the maximum are refused, and the others continue', async () => {
  const emulator = await testEmulator()
  await send(emulator, 'GET', VIEWS)
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
  expect((await send(emulator, 'GET', VIEWS)).status).toBe(200)
})
