import { expect, test } from 'vitest'
import type { SandboxEvent } from '../../src/index.ts'
import { happened } from '../../src/terminal/clock-lines.ts'
import { lastingCommand, withError } from './in-process.ts'
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
  const request = { id: 'default-000001', status: 404, response: { status: 404 } }
  expect(JSON.parse(await next())).toMatchObject(request)
  await emulator.close()
  const { code, err } = await ended
  expect([code, err]).toEqual([0, expect.stringMatching(/^The emulator has ended the stream.*$/)])
})

test('events --follow prints events of the requested types', async () => {
  const { emulator, run, url } = await running()
  const argv = 'events --follow --type clock --type request --json --url'.split(' ')
  const { next } = lastingCommand([...argv, url])
  expect(JSON.parse(await next())).toMatchObject({ type: 'hello', data: { sandbox: 'default' } })
  await run('clock', 'rate', '60')
  expect(JSON.parse(await next())).toMatchObject({ type: 'clock', data: { rate: 60 } })
  await fetch(`${emulator.baseUrl}/nowhere`)
  expect(JSON.parse(await next())).toMatchObject({ type: 'request', data: { status: 404 } })
})

const AT = '2026-03-01T12:00:00.000Z'

test.for<[string, object, string]>([
  ['request', { at: AT, status: 404, method: 'GET', path: '/v1/a', id: 'r1' }, '404  GET /v1/a  r1'],
  ['request', { at: AT, status: 0, method: 'GET', path: '/v1/a', id: 'r1' }, 'cut  GET /v1/a  r1'],
  ['event', { at: AT, description: 'It starts.', from: 'a', to: 'b' }, 'It starts. (a to b)'],
  ['transition', { at: AT, ref: 'b/1', from: null, to: 'validating' }, 'b/1 new to validating'],
  ['clock', { now: AT, rate: 60 }, 'clock rate 60'],
  ['schedule', { at: AT, next: null }, 'next: nothing is due'],
  ['scenario', { at: AT, active: null }, 'scenario stopped'],
  ['sandbox', { now: AT, revision: 7 }, 'state replaced, revision 7'],
])('without --json, an event %s %o is one line of text', ([type, data, line]) => {
  expect(happened({ type, data } as SandboxEvent)).toEqual([`${AT}  ${line}`])
})

test('a type that does not exist is misuse', async () => {
  const { run } = await running()
  expect(await run('events', '--follow', '--type', 'requests')).toEqual(
    withError(2, /^--type: "requests" is unknown\. Give request, /),
  )
})
