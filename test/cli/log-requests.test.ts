import { expect, test } from 'vitest'
import { resolveOptions, START_OPTIONS } from '../../src/terminal/options.ts'
import { isFollowed, printRequests } from '../../src/terminal/request-printer.ts'
import { startedEmulator } from './in-process.ts'
import { running } from './running.ts'

/** An emulator whose requests are printed as JSON; `next` resolves with the next one. */
async function printed(logRequests: 'on' | 'errors' = 'on') {
  const started = await running()
  let done: (line: string) => void = () => {}
  const terminal = { out: () => {}, err: (line: string) => done(line), lines: () => {}, colours: false }
  const options = { ...resolveOptions(START_OPTIONS, new Map(), {}), logFormat: 'json', logRequests } as const
  printRequests(started.emulator, { options, given: new Set(['logRequests']), terminal }, false)
  const next = () => new Promise<string>((resolve) => (done = resolve)).then((line) => JSON.parse(line))
  return { ...started, next, get: (path: string) => fetch(`${started.emulator.baseUrl}${path}`) }
}

test.for([
  ['with its faults', { id: 'late', pace: { before_head_ms: 40 } }, { status: 401, faults: ['late'] }],
  ['also one that a fault cuts', { id: 'cut', cut: { at: 'before-handler', how: 'rst' } }, { status: 0 }],
] as const)('a request is logged when it is over, %s', async ([, { id, ...action }, expected]) => {
  const { next, get, run } = await printed()
  await run('faults', 'add', JSON.stringify({ id, match: { method: 'GET' }, do: [action] }))
  const written = next()
  await get('/data-views').catch(() => {})
  const request = await written
  expect(request).toMatchObject({ method: 'GET', path: '/v1/data-views', ...expected })
  // The fault delays by 40 ms, and timers of Node may fire up to 1 ms early.
  expect(request.ms).toBeGreaterThanOrEqual(id === 'late' ? 39 : 0)
})

test('with errors, only failed requests are logged', async () => {
  const { next, get, run } = await printed('errors')
  const written = next()
  await run('faults', 'add', '{"match": {"path": "/v1/data-views"}, "do": [{"respond": {"status": 200}}]}')
  expect((await get('/data-views')).status).toBe(200)
  await get('/nowhere')
  expect(await written).toMatchObject({ status: 404 })
})

test('a page that cannot read a response is a failure, and its line has the reason and the fix', async () => {
  const { next, emulator } = await printed('errors')
  const written = next()
  for (const origin of ['http://localhost:5173', 'https://app.example']) {
    const headers = { origin, 'access-control-request-method': 'POST' }
    await fetch(`${emulator.baseUrl}/pages`, { method: 'OPTIONS', headers })
  }
  const mitigation = 'Start the emulator with --cors-origin https://app.example (corsOrigins in JavaScript).'
  expect(await written).toMatchObject({ status: 204, method: 'OPTIONS', cors: { mitigation } })
})

test.for([
  ['--log-requests on', ['401  GET /v1/data-views', '404  GET /v1/nowhere']],
  ['--log-requests errors --log-format json --log-level warn', ['"status":401', '"status":404']],
  // Only a terminal shows them.
  ['--log-level info', []],
] as const)('start %s prints on stderr: %j', async ([flags, lines]) => {
  const { ready, stop } = await startedEmulator(['--ephemeral', ...flags.split(' ')])
  for (const path of ['data-views', 'nowhere']) await fetch(`${ready.base_url}/${path}`)
  const { err } = await stop()
  const requests = err.split('\n').filter((line) => /default-0/.test(line))
  expect(requests).toEqual(lines.map((line) => expect.stringContaining(line)))
})

test.for([
  ['on a terminal', true, {}, true],
  ['elsewhere', false, {}, false],
  ['where the log is to be quiet', true, { quiet: true }, false],
  ['where only warnings are logged', true, { logLevel: 'warn' }, false],
  ['where everything is logged', true, { logLevel: 'debug' }, true],
] as const)('%s requests are printed: %s', ([, colours, options, expected]) => {
  const terminal = { out: () => {}, err: () => {}, colours }
  expect(isFollowed({ ...resolveOptions(START_OPTIONS, new Map(), {}), ...options }, terminal)).toBe(expected)
})
