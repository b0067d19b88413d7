import { expect, onTestFinished, test } from 'vitest'
import { lastingCommand } from './in-process.ts'
import { running } from './running.ts'

test('requests --follow prints the log, then each new request that matches', async () => {
  const { emulator, url } = await running()
  const get = (path: string) => fetch(`${emulator.baseUrl}${path}`)
  await get('/nowhere')
  const { next } = lastingCommand(['requests', '--follow', '--status', '404', '--url', url])
  expect(await next()).toMatch(/ {2}404 {2}GET \/v1\/nowhere {2}.* {2}default-000001$/)
  await get('/data-views')
  await get('/elsewhere')
  expect(await next()).toMatch(/ {2}404 {2}GET \/v1\/elsewhere {2}.*default-000003$/)
  emulator.sandbox.log.clear()
  await get('/third')
  expect(await next()).toMatch(/GET \/v1\/third/)
})

test('requests --follow --json prints one object per line, and ends with the emulator', async () => {
  const { emulator, url } = await running()
  const { next, ended } = lastingCommand(['requests', '--follow', '--full', '--json', '--url', url])
  await fetch(`${emulator.baseUrl}/nowhere`)
  expect(JSON.parse(await next())).toMatchObject({
    id: 'default-000001',
    status: 404,
    response: { status: 404 },
  })
  await emulator.close()
  expect(await ended).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^The emulator has ended the stream.*$/),
  })
})

test('events --follow prints events of the requested types', async () => {
  const { emulator, run, url } = await running()
  const { next } = lastingCommand([
    'events',
    '--follow',
    '--type',
    'clock',
    '--type',
    'request',
    '--json',
    '--url',
    url,
  ])
  expect(JSON.parse(await next())).toMatchObject({ type: 'hello', data: { sandbox: 'default' } })
  await run('clock', 'rate', '60')
  expect(JSON.parse(await next())).toMatchObject({ type: 'clock', data: { rate: 60 } })
  await fetch(`${emulator.baseUrl}/nowhere`)
  expect(JSON.parse(await next())).toMatchObject({ type: 'request', data: { status: 404 } })
})

test('without --json an event is printed as one line of text', async () => {
  const { emulator, run, url } = await running({ fixtures: 'demo' })
  const { next } = lastingCommand(['events', '--follow', '--url', url])
  // Requests before the stream has begun are not printed, so they are repeated until the first line arrives.
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const first = next()
  let isDone = false
  void first.then(() => (isDone = true))
  while (!isDone) await fetch(`${emulator.baseUrl}/nowhere`)
  expect(await first).toMatch(/404 {2}GET \/v1\/nowhere {2}default-/)
  await run('clock', 'rate', '60')
  let line = await next()
  while (line.includes('/v1/nowhere')) line = await next()
  expect(line).toMatch(/clock rate 60$/)
  await run('clock', 'advance', '24h')
  expect(await next()).toMatch(/Z {2}\S/)
})

test('a type that does not exist is misuse', async () => {
  const { run } = await running()
  const { code, err } = await run('events', '--follow', '--type', 'requests')
  expect([code, err]).toEqual([2, expect.stringMatching(/^--type: "requests" is unknown\. Give request, /)])
})
