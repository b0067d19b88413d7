import { expect, test } from 'vitest'
import type { RequestTrace } from '../../src/core/explain/trace.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'
import { type Said, type Sent, send } from '../support/send.ts'

const FOREIGN = 'https://app.example'
const FIX = 'Start the emulator with --cors-origin https://app.example (corsOrigins in JavaScript).'

const idOf = ({ headers }: Sent) => String(headers['x-emulator-request-id'])

async function explained(emulator: TestEmulator, response: Sent): Promise<RequestTrace> {
  return (await emulator.control('GET', `/explain/${idOf(response)}`)).body
}

function preflight(emulator: TestEmulator, origin: string, method = 'POST', path = '/v1/pages') {
  const headers = { origin, 'access-control-request-method': method }
  return send(emulator, 'OPTIONS', path, { headers, authorization: undefined })
}

const get = (emulator: TestEmulator, headers: Said['headers'] = {}, path = '/v1/data-views') =>
  send(emulator, 'GET', path, { headers })

test('a refused preflight allows and changes nothing, and is in the log with the origin and the fix', async () => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const response = await preflight(emulator, FOREIGN)
  expect([response.status, response.text]).toEqual([204, ''])
  expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  expect(response.headers).toMatchObject({ 'x-ratelimit-limit': '200', 'x-ratelimit-remaining': '200' })
  expect([emulator.digest(), emulator.sandbox.limits.windows.save()]).toEqual([before, []])
  const detail = `Pages of ${FOREIGN} may not use the API, so the browser does not send the request itself.`
  const cors = { origin: FOREIGN, preflight: true, detail, mitigation: FIX }
  const { data } = (await emulator.control('GET', '/requests')).body
  expect(data).toMatchObject([{ method: 'OPTIONS', path: '/v1/pages', status: 204, operation: null, cors }])
  const trace = await explained(emulator, response)
  expect(trace.cors).toEqual(cors)
  expect(trace.summary).toBe(
    `OPTIONS /v1/pages was completed with 204 by the step receive: it is a preflight. ${cors.detail}`,
  )
  const reached = trace.steps.filter(({ outcome }) => outcome !== 'not reached')
  expect(reached.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(['receive decided', 'log passed'])
})

test('X2 an allowed preflight needs no key, uses no quota, creates no sandbox, and stays out of the log', async () => {
  const emulator = await testEmulator({ corsOrigins: [FOREIGN] })
  for (const origin of ['http://localhost:5173', FOREIGN]) {
    const { status, headers } = await preflight(emulator, origin, 'POST', '/@absent/v1/pages')
    expect(status).toBe(204)
    const date = 'Sun, 01 Mar 2026 12:00:00 GMT'
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin, date })
    expect(headers).not.toHaveProperty('x-emulator-request-id')
  }
  const { log, limits } = emulator.sandbox
  expect([log.requests, limits.windows.save()]).toEqual([0, []])
  expect(emulator.emulator.sandboxes.list()).toHaveLength(1)
})

test('a request whose response the page cannot read is marked in the log, whether it was performed or refused', async () => {
  const emulator = await testEmulator()
  const response = await get(emulator, { origin: FOREIGN })
  expect(response.status).toBe(200)
  const { cors, summary } = await explained(emulator, response)
  const detail = expect.stringMatching(
    / may not use the API, so the browser does not let the page read this response\.$/,
  )
  expect(cors).toEqual({ origin: FOREIGN, preflight: false, detail, mitigation: FIX })
  expect(summary).toContain(' was completed with 200 by the step handle: ')
  expect(summary).toContain(cors?.detail)
  const refused = await explained(emulator, await get(emulator, { origin: FOREIGN }, '/v1/nowhere'))
  expect([refused.cors?.origin, refused.error?.code]).toEqual([FOREIGN, 'route_not_found'])
})

test.for([
  ['a page of this machine', { origin: 'http://localhost:5173' }],
  ['an emulator behind a proxy', { origin: 'https://emulator.example', 'sec-fetch-site': 'same-origin' }],
  ['a form that opens a new document', { origin: FOREIGN, 'sec-fetch-mode': 'navigate' }],
  ['a client that is not a browser', {}],
  ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }],
] as const)('the request of %s is not marked', async ([, headers]) => {
  const emulator = await testEmulator()
  expect(await explained(emulator, await get(emulator, headers))).not.toHaveProperty('cors')
})

test('a page that the emulator serves under another host name may read its own responses', async () => {
  const emulator = await testEmulator({ allowHosts: ['emulator.example'] })
  const host = `emulator.example:${emulator.emulator.port}`
  const response = await get(emulator, { host, origin: `http://${host}` })
  expect(await explained(emulator, response)).not.toHaveProperty('cors')
  const other = await get(emulator, { host, origin: 'http://emulator.example' })
  expect((await explained(emulator, other)).cors?.origin).toBe('http://emulator.example')
})

const LOCAL = 'http://localhost:5173'

test.for([
  ['null', 'POST', /of the origin null \(files, sandboxed frames, about:blank\)/, /--cors-origin null /],
  // A shell expands this one unless it is quoted.
  ['http://a$(b).example', 'POST', /^Pages of http/, /--cors-origin 'http:\/\/a\$\(b\)\.example' /],
  [LOCAL, 'PUT', /no method PUT/, /^The API has only the methods GET, HEAD, POST, PATCH, DELETE\.$/],
  [LOCAL, 'patch', /no method patch/, /^Write the method in capital letters: PATCH\.$/],
] as const)('a preflight from %s for %s is explained with its fix', async ([origin, method, detail, fix]) => {
  const emulator = await testEmulator()
  const { cors } = await explained(emulator, await preflight(emulator, origin, method))
  expect(cors).toMatchObject({ origin, preflight: true, mitigation: expect.stringMatching(fix) })
  expect(cors?.detail).toMatch(detail)
  expect(cors?.detail).toMatch(/ so the browser does not send the request itself\.$/)
})

test('a fetch with no-cors is explained: the browser leaves out the key and hides the response', async () => {
  const emulator = await testEmulator()
  const headers = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'empty' }
  const response = await send(emulator, 'GET', '/v1/data-views', { headers, authorization: undefined })
  const { cors, error } = await explained(emulator, response)
  expect(error?.code).toBe('unauthorized')
  const mitigation = "Remove mode: 'no-cors' from the page."
  expect(cors).toMatchObject({ origin: null, preflight: false, mitigation })
  expect(cors?.detail).toMatch(/leaves out the header Authorization and does not let the page read/)
})

test('a response without the header Access-Control-Allow-Origin is explained by the fault that changed it', async () => {
  const emulator = await testEmulator()
  const changes = [
    [{ remove: ['access-control-allow-origin'] }, true],
    [{ raw: [['Access-Control-Allow-Origin', LOCAL]] }, true],
    [{ set: { 'Access-Control-Allow-Origin': '*' } }, false],
    [{ set: { 'X-Other': 'y' } }, false],
  ] as const
  for (const [head, isHidden] of changes) {
    const { id } = armRule(emulator.sandbox, { times: 1, do: [{ head }] })
    const { cors } = await explained(emulator, await get(emulator, { origin: LOCAL }))
    const mitigation = 'Remove the fault rule, or let the response keep exactly one such header.'
    const detail = expect.stringMatching(/^A fault has changed the header Access-Control-Allow-Origin, so/)
    const hidden = { origin: LOCAL, preflight: false, detail, mitigation }
    expect([head, cors]).toEqual([head, isHidden ? hidden : undefined])
    await emulator.control('DELETE', `/faults/${id}`)
  }
})

test('a request that a fault cuts off has no response that a page could be refused', async () => {
  const emulator = await testEmulator()
  armRule(emulator.sandbox, { do: [{ cut: { at: 'before-handler', how: 'rst' } }] })
  await expect(get(emulator, { origin: 'http://localhost:5173' })).rejects.toThrow()
  const { data } = (await emulator.control('GET', '/requests')).body
  expect(data[0]).not.toHaveProperty('cors')
})

test('a refused preflight is in the log of the sandbox of its path, and creates none', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/sandboxes', { name: 'there' })
  expect(idOf(await preflight(emulator, FOREIGN, 'POST', '/@there/v1/pages'))).toBe('there-000001')
  expect(idOf(await preflight(emulator, FOREIGN, 'POST', '/@absent/v1/pages'))).toBe('default-000001')
  expect(emulator.emulator.sandboxes.list()).toHaveLength(2)
})

test('a logged preflight counts in checks that name its method, is in the HAR, and cannot be sent again', async () => {
  const emulator = await testEmulator()
  const id = idOf(await preflight(emulator, FOREIGN))
  const verify = async (match: object) =>
    (await emulator.control('POST', '/requests/verify', { match, count: { at_least: 0 } })).body.actual
  expect(await verify({ path: '/v1/pages' })).toBe(0)
  expect(await verify({ path: '/v1/pages', method: 'OPTIONS' })).toBe(1)
  const wait = await emulator.control('POST', '/requests/wait', { match: { path: '*' }, timeout_ms: 1 })
  expect(wait.body.actual).toBe(0)
  const { log } = (await emulator.control('GET', '/requests/har')).body
  expect(log.entries).toMatchObject([{ request: { method: 'OPTIONS' }, response: { status: 204 } }])
  expect((await emulator.control('POST', `/requests/${id}/resend`)).status).toBe(409)
})
