import { expect, test } from 'vitest'
import type { LinedRequest } from '../../src/adapters/cli/request-line.ts'
import { RequestPrinter } from '../../src/adapters/cli/request-printer.ts'
import { command } from './in-process.ts'
import { spawnEmulator } from './process.ts'
import { running } from './running.ts'

/** An emulator whose requests are collected; `next` resolves with those of the next write. */
async function printed(onlyFailures = false) {
  const started = await running()
  let done: (requests: readonly LinedRequest[]) => void = () => {}
  const printer = new RequestPrinter({ write: (requests) => done(requests), onlyFailures })
  printer.watch(started.emulator.sandbox)
  const next = () => new Promise<readonly LinedRequest[]>((resolve) => (done = resolve))
  return { ...started, next, get: (path: string) => fetch(`${started.emulator.baseUrl}${path}`) }
}

test('a line comes when the response is out, with its duration and the faults that fired', async () => {
  const { next, get, run } = await printed()
  await run(
    'faults',
    'add',
    '{"id": "late", "match": {"method": "GET"}, "do": [{"pace": {"before_head_ms": 40}}]}',
  )
  const written = next()
  await get('/data-views')
  const [request] = await written
  expect(request).toMatchObject({ method: 'GET', path: '/v1/data-views', status: 401, faults: ['late'] })
  // The host's timers may be early by a millisecond.
  expect(request?.ms).toBeGreaterThanOrEqual(39)
})

test('a request that a fault cuts off has a line, too', async () => {
  const { next, get, run } = await printed()
  await run(
    'faults',
    'add',
    '{"match": {"method": "GET"}, "do": [{"cut": {"at": "before-handler", "how": "rst"}}]}',
  )
  const written = next()
  await expect(get('/data-views')).rejects.toThrow()
  expect(await written).toMatchObject([{ status: 0, path: '/v1/data-views' }])
})

test('with errors alone, what succeeds has no line', async () => {
  const { next, get, run } = await printed(true)
  const written = next()
  await run('faults', 'add', '{"match": {"path": "/v1/data-views"}, "do": [{"respond": {"status": 200}}]}')
  expect((await get('/data-views')).status).toBe(200)
  await get('/nowhere')
  expect(await written).toMatchObject([{ status: 404 }])
})

test('start --log-requests prints them on stderr, and without it nothing where no terminal is', async () => {
  for (const [flags, lines] of [
    [
      ['--log-requests', 'on'],
      ['401  GET /v1/data-views', '404  GET /v1/nowhere'],
    ],
    [
      ['--log-requests', 'errors', '--log-format', 'json'],
      ['"status":401', '"status":404'],
    ],
    [[], []],
  ] as const) {
    const { ready, child, ended } = await spawnEmulator(['--ephemeral', ...flags])
    await fetch(`${ready.base_url}/data-views`)
    await fetch(`${ready.base_url}/nowhere`)
    child.kill('SIGTERM')
    const { err } = await ended
    const requests = err.split('\n').filter((line) => /default-0/.test(line))
    expect(requests.length).toBe(lines.length)
    for (const [index, line] of lines.entries()) expect(requests[index]).toContain(line)
  }
})

test('--log-requests takes on, off and errors', async () => {
  const { code, err } = await command(['start', '--log-requests', 'all'])
  expect([code, err]).toEqual([2, '--log-requests: "all" is unknown. Give on, off or errors.'])
})
