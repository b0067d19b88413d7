import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEmulator } from '../../src/emulator.ts'
import type { Sandbox } from '../../src/kernel/worlds/sandbox.ts'
import { MOST_SANDBOXES } from '../../src/kernel/worlds/sandboxes.ts'
import { baseCollections, KEYS } from '../support/base-world.ts'
import { lastEntry, made, sandboxOf, send } from '../support/send.ts'
import { testWorld } from '../support/world.ts'

test('requests that name a new sandbox at the same time share it', async () => {
  const world = await testWorld()
  const posts = Array.from({ length: 20 }, (_, n) =>
    send(world, 'POST', '/@w1/v1/pages', { json: { name: `page ${n}` } }),
  )
  const answers = await Promise.all(posts)
  expect(answers.map(({ status }) => status)).toEqual(posts.map(() => 200))
  expect(sandboxOf(world, 'w1').store.rows('pages').size).toBe(20)
})

test('a request whose sandbox is removed while it comes in is told so, and nothing comes of it', async () => {
  const world = await testWorld()
  await send(world, 'GET', '/@w1/v1/data-views')
  const { port } = world.emulator
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
    // The body is asked for once the sandbox has been chosen.
    req.on('continue', () =>
      world.emulator.sandboxes.delete('w1').then(() => req.end('{"name":"x"}'), reject),
    )
    req.flushHeaders()
  })
  expect([status, made(world)]).toEqual([409, []])
  expect(lastEntry(world.sandbox)).toMatchObject({ path: '/@w1/v1/pages', status: 409 })
})

test('R121 a request without a key makes the sandbox that it names: its keys are in there', async () => {
  const world = await testWorld()
  const answer = await send(world, 'GET', '/@w1/v1/data-views', { authorization: undefined })
  expect([answer.status, answer.headers['x-emulator-request-id']]).toEqual([401, 'w1-000001'])
})

test('unknown routes and wrong methods are answered and logged in the chosen sandbox', async () => {
  const world = await testWorld()
  expect((await send(world, 'GET', '/@w1/v1/pagess')).status).toBe(404)
  expect((await send(world, 'PUT', '/v1/pages', { headers: { 'X-Emulator-Sandbox': 'w2' } })).status).toBe(
    405,
  )
  expect(lastEntry(sandboxOf(world, 'w1'))).toMatchObject({ path: '/@w1/v1/pagess', chosenBy: 'path' })
  expect(lastEntry(sandboxOf(world, 'w2'))).toMatchObject({ status: 405, chosenBy: 'header' })
  expect(world.sandbox.log.entries()).toEqual([])
})

test('a foreign Host makes no sandbox, and is logged where it was bound for if that is there', async () => {
  const world = await testWorld()
  const foreign = { headers: { host: 'example.com' } }
  expect((await send(world, 'GET', '/@w1/v1/data-views', foreign)).status).toBe(403)
  expect((await send(world, 'GET', '/@w1/__emulator/clock', foreign)).status).toBe(403)
  expect(made(world)).toEqual([])
  expect(lastEntry(world.sandbox)).toMatchObject({ status: 403, path: '/@w1/v1/data-views' })
  await send(world, 'GET', '/@w1/v1/data-views')
  await send(world, 'GET', '/@w1/v1/data-views', foreign)
  expect(lastEntry(sandboxOf(world, 'w1'))).toMatchObject({ status: 403, id: 'w1-000002' })
})

test('a page of a foreign origin makes no sandbox, though it may use one that is there', async () => {
  const world = await testWorld()
  const from = (origin: string) => ({ headers: { origin } })
  const refused = await send(world, 'GET', '/@w1/v1/data-views', from('https://example.com'))
  expect([refused.status, refused.body.error]).toEqual([403, 'forbidden'])
  expect(refused.body.mitigation).toContain('--cors-origin https://example.com')
  expect((await send(world, 'GET', '/@w1/__emulator/clock', from('https://example.com'))).status).toBe(403)
  expect(made(world)).toEqual([])
  expect((await send(world, 'GET', '/@w1/v1/data-views', from('http://localhost:3000'))).status).toBe(200)
  expect((await send(world, 'GET', '/@w1/v1/data-views', from('https://example.com'))).status).toBe(200)
})

test('a preflight makes no sandbox, and grants the header that chooses one', async () => {
  const world = await testWorld()
  const headers = {
    origin: 'http://localhost:3000',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization, x-emulator-sandbox',
  }
  const answer = await send(world, 'OPTIONS', '/@w1/v1/data-views', { headers, authorization: undefined })
  expect([answer.status, answer.headers['access-control-allow-headers']]).toEqual([
    204,
    'authorization, x-emulator-sandbox',
  ])
  expect(answer.headers['x-ratelimit-limit']).toMatch(/^\d+$/)
  expect(made(world)).toEqual([])
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
])('nothing but the API and the control interface is served below a sandbox: %s', async (path) => {
  const world = await testWorld()
  const answer = await send(world, 'GET', path)
  expect([answer.status, answer.body.error]).toEqual([404, 'route_not_found'])
  expect(answer.body.message).toContain('In a sandbox the same holds behind its /@name.')
  expect(made(world)).toEqual([])
  expect(lastEntry(world.sandbox)?.path).toBe(path.split('?')[0])
})

test('more sandboxes than there can be are refused, and the others go on', async () => {
  const world = await testWorld()
  await send(world, 'GET', '/@w1/v1/data-views')
  const [housed] = world.emulator.sandboxes.list()
  const nothing = async () => {}
  for (let n = 2; n < MOST_SANDBOXES; n++) {
    // Only the name is looked at, and that it ends with the others.
    const sandbox = { ...housed, name: `full-${n}`, retire: () => {} } as unknown as Sandbox
    world.emulator.sandboxes.add({ sandbox, close: nothing, remove: nothing } as never, false)
  }
  const refused = await send(world, 'GET', '/@w2/v1/data-views')
  expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
  expect(refused.body.mitigation).toContain('DELETE /__emulator/sandboxes/{name}')
  expect((await send(world, 'GET', '/@w2/__emulator/clock')).status).toBe(409)
  expect((await send(world, 'GET', '/@w1/v1/data-views')).status).toBe(200)
})

test('fixtures that have been broken meanwhile are an answer that says so, until they are mended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-selection-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'fixtures.json')
  const write = (text: string) => writeFileSync(file, text)
  const whole = JSON.stringify({ collections: baseCollections })
  write(whole)
  let now = Date.parse('2026-03-01T12:00:00Z')
  const emulator = await openEmulator({ port: 0, ephemeral: true, fixtures: file, hostTime: () => now })
  onTestFinished(() => emulator.close())
  const world = { emulator }
  write('{')
  // A starting world that is a minute old is made anew.
  now += 60_000
  for (const path of ['/@w1/v1/data-views', '/@w1/__emulator/clock']) {
    const refused = await send(world, 'GET', path)
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
    expect(refused.body.message).toContain(
      `none can be made, since its starting world is not valid: ${file}: /:`,
    )
  }
  expect(made(world)).toEqual([])
  expect((await send(world, 'GET', '/v1/data-views')).status).toBe(200)
  write(whole)
  expect((await send(world, 'GET', '/@w1/v1/data-views')).status).toBe(200)
})
