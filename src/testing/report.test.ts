import { expect, onTestFinished, test } from 'vitest'
import { startEmulator } from '../index.ts'
import { reportOn } from './report.ts'

async function aSandbox() {
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  onTestFinished(() => emulator.close())
  const sandbox = await emulator.sandbox('w1')
  const preflight = (origin: string) =>
    fetch(`${sandbox.baseUrl}/pages`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
  const report = async () => (await reportOn(sandbox)).split('\n').slice(1)
  return { sandbox, preflight, report }
}

const OPAQUE = [
  '      Pages of the origin null (files, sandboxed frames, about:blank) may not use the API, so the browser does not send the request itself. Open the page at http://localhost instead, or start the emulator with --cors-origin null (corsOrigins in JavaScript), which allows all such pages.',
]

test('a sandbox that only refused pages says how many responses they could not read, and each reason once', async () => {
  const { preflight, report } = await aSandbox()
  await preflight('null')
  await preflight('null')
  await preflight('https://a.example')
  expect(await report()).toEqual([
    '  the browser was not allowed to read 3 responses:',
    '    OPTIONS /v1/pages  204  blocked by CORS  w1-000001',
    ...OPAQUE,
    '    OPTIONS /v1/pages  204  blocked by CORS  w1-000002',
    '    OPTIONS /v1/pages  204  blocked by CORS  w1-000003',
    '      Pages of https://a.example may not use the API, so the browser does not send the request itself. Start the emulator with --cors-origin https://a.example (corsOrigins in JavaScript).',
  ])
})

test('among other requests, the responses that a page could not read are counted', async () => {
  const { sandbox, preflight, report } = await aSandbox()
  await sandbox.fetch('/data-views')
  await preflight('null')
  expect(await report()).toEqual([
    '  requests, of which the browser was not allowed to read 1 response:',
    '    GET /v1/data-views  200  w1-000001',
    '    OPTIONS /v1/pages  204  blocked by CORS  w1-000002',
    ...OPAQUE,
  ])
})

test('all requests of the log are counted, and the last ten are shown', async () => {
  const { sandbox, preflight, report } = await aSandbox()
  await preflight('null')
  for (let n = 0; n < 12; n++) await sandbox.fetch('/data-views')
  const [title, ...lines] = await report()
  expect(title).toBe('  the last 10 of 13 requests, of which the browser was not allowed to read 1 response:')
  expect(lines).toHaveLength(10)
})

test('a refused request of a page has the reason of the service and that of the browser', async () => {
  const { sandbox, report } = await aSandbox()
  await sandbox.fetch('/nowhere', { headers: { origin: 'https://a.example' } })
  const [title, request, ...reasons] = await report()
  expect([title, request]).toEqual([
    '  the browser was not allowed to read 1 response:',
    '    GET /v1/nowhere  404  blocked by CORS  w1-000001',
  ])
  expect(reasons.map((each) => each.trim())).toEqual([
    expect.stringMatching(/^It was refused with 404 route_not_found .* may not use the API/),
    expect.stringContaining('call GET /operations'),
    'Start the emulator with --cors-origin https://a.example (corsOrigins in JavaScript).',
  ])
})

test('a sandbox without requests, and one without pages, have their usual titles', async () => {
  const { sandbox, report } = await aSandbox()
  expect(await report()).toEqual([
    '  it received no request: does the client use sandbox.baseUrl and sandbox.apiKey?',
  ])
  await sandbox.fetch('/data-views')
  expect((await report())[0]).toBe('  requests:')
})
