import { expect, test } from 'vitest'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'
import { sampleRecords } from '../support/sample-calls.ts'
import { send } from '../support/send.ts'
import { mountPath } from '../support/transport.ts'

const APP = 'http://localhost:3000/cb?from=app'

const server = { ...sampleRecords.mcp_servers?.[0], id: 's1', name: 'Plans <b>& tools' }

const started = (options: TestEmulatorOptions = {}) =>
  testEmulator({ ...options, collections: { mcp_servers: [server] } })

async function startFlow(emulator: TestEmulator, redirect_uri = APP) {
  const { body } = await emulator.control('POST', '/mcp-oauth-flows', { server_id: 's1', redirect_uri })
  return body as { state: string; authorize_url: string; redirect_uri: string }
}

async function startConnection(emulator: TestEmulator): Promise<string> {
  const response = await emulator.post('/connections', { connector_id: 'file_sharing' })
  return response.body.redirect_url
}

/** Sends the form of a page as a browser does, without following the redirect. */
async function choose(url: string, outcome: string) {
  const body = new URLSearchParams({ outcome })
  const { origin } = new URL(url)
  const response = await fetch(url, { method: 'POST', body, redirect: 'manual', headers: { origin } })
  return { status: response.status, location: response.headers.get('location'), page: await response.text() }
}

const returned = (location: string | null) => Object.fromEntries(new URL(location ?? '').searchParams)

const callback = (emulator: TestEmulator, body: object) =>
  emulator.post('/organization/mcp-servers/s1/oauth-callback', { redirect_uri: APP, ...body })

test('the page of an OAuth flow is safe, and has the state in its URL', { tags: ['U032'] }, async () => {
  const emulator = await started()
  const { authorize_url, state } = await startFlow(emulator)
  const url = new URL(authorize_url)
  expect([url.origin, url.searchParams.get('state')]).toEqual([emulator.emulator.url, state])
  expect(url.pathname).toMatch(/^\/consent\/mcp-oauth\/[\w-]+$/)
  const page = await fetch(authorize_url)
  const html = await page.text()
  expect(html).toContain('Connect Plans &lt;b&gt;&amp; tools to ')
  expect(html).toContain(APP)
  expect(html).not.toMatch(/<script|<b>| on\w+=/)
  const policy = page.headers.get('content-security-policy') ?? ''
  const closed = ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"]
  for (const part of [...closed, ' http://localhost:3000;']) expect(policy).toContain(part)
  expect(policy).not.toMatch(/unsafe|script-src/)
  expect(page.headers.get('cache-control')).toBe('no-store')
})

test('allow returns with a code that completes the flow', { tags: ['R143', 'R144', 'U032'] }, async () => {
  const emulator = await started()
  const { authorize_url, state } = await startFlow(emulator)
  const { status, location } = await choose(authorize_url, 'allow')
  expect(status).toBe(303)
  const { code, ...rest } = returned(location)
  expect(rest).toEqual({ from: 'app', state })
  expect((await callback(emulator, { code: 'another', state })).status).toBe(400)
  expect((await callback(emulator, { code, state })).body.oauth_configured).toBe(true)
})

test('an error returns with the state, and without a code', async () => {
  const emulator = await started()
  for (const outcome of ['deny', 'server_error', 'temporarily_unavailable']) {
    const { authorize_url, state } = await startFlow(emulator)
    const error = outcome === 'deny' ? 'access_denied' : outcome
    expect(returned((await choose(authorize_url, outcome)).location)).toEqual({ from: 'app', error, state })
  }
})

test('neither another state nor an expired one completes a flow', async () => {
  const emulator = await started()
  for (const outcome of ['wrong_state', 'expired_state']) {
    const { authorize_url, state } = await startFlow(emulator)
    const { from: _, ...got } = returned((await choose(authorize_url, outcome)).location)
    expect([outcome, got.state === state]).toEqual([outcome, outcome === 'expired_state'])
    expect((await callback(emulator, got)).status).toBe(400)
  }
})

test('a nonce works once: the page of a decided OAuth flow or connection is a 410', async () => {
  const emulator = await started()
  for (const url of [(await startFlow(emulator)).authorize_url, await startConnection(emulator)]) {
    expect((await choose(url, 'deny')).status).toBeLessThan(400)
    const before = emulator.digest()
    const again = await choose(url, 'allow')
    expect([again.status, again.location]).toEqual([410, null])
    expect(again.page).toContain('a flow can be decided only once')
    expect((await fetch(url)).status).toBe(410)
    expect(emulator.digest()).toBe(before)
  }
})

test('an unknown nonce, another state, an unknown page and an invalid form are refused', async () => {
  const emulator = await started()
  const { authorize_url } = await startFlow(emulator)
  const before = emulator.digest()
  const digest = emulator.state('oauth_flows').at(-1).nonce
  for (const [path, status] of [
    ['/consent/mcp-oauth/none?state=x', 404],
    [`/consent/mcp-oauth/${encodeURIComponent(digest)}`, 404],
    [`${new URL(authorize_url).pathname}?state=x`, 400],
    ['/consent/other/none', 404],
    ['/consent/', 404],
    ['/@none/consent/connections/none', 404],
  ] as const)
    expect((await fetch(emulator.emulator.url + path)).status, path).toBe(status)
  expect((await choose(authorize_url, 'maybe')).status).toBe(400)
  expect((await fetch(authorize_url, { method: 'POST' })).status).toBe(400)
  expect(emulator.digest()).toBe(before)
})

test('pages of other sites, sandboxed pages and foreign hosts cannot decide', async () => {
  const emulator = await started()
  const { pathname, search } = new URL((await startFlow(emulator)).authorize_url)
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const from of [{ origin: 'https://evil.example' }, { origin: 'null' }, { host: 'evil.example' }]) {
    const how = { headers: { ...from, ...type }, raw: 'outcome=allow', authorization: undefined }
    expect((await send(emulator, 'POST', pathname + search, how)).status).toBe(403)
  }
  expect(emulator.state('oauth_flows').at(-1).decided_at).toBeNull()
})

test('the default redirect_url is a page, also after a restart', { tags: ['U030', 'U080'] }, async () => {
  const before = await started()
  const { pathname } = new URL(await startConnection(before))
  const emulator = await before.restart()
  const url = emulator.emulator.url + pathname.slice(mountPath().length)
  expect(await (await fetch(url)).text()).toContain('Connect file_sharing to ')
  const { status, page } = await choose(url, 'allow')
  expect([status, page]).toEqual([200, expect.stringContaining('Access is granted')])
  const [{ id }] = emulator.state('connections')
  expect((await emulator.control('GET', `/connections/${id}`)).body.status).toBe('connected')
})

test.for([
  ['allow', 'connected', {}],
  ['deny', 'denied', { error: 'access_denied' }],
  ['server_error', 'failed', { error: 'server_error' }],
] as const)('%s returns to connections.return_url', { tags: ['U080'] }, async ([outcome, status, error]) => {
  const settings = { 'connections.return_url': 'http://app:8080/done/{id}' }
  const emulator = await started({ settings })
  const url = await startConnection(emulator)
  expect((await fetch(url)).headers.get('content-security-policy')).toContain('http://app:8080')
  const { location } = await choose(url, outcome)
  const [connection] = emulator.state('connections')
  expect(new URL(location ?? '').pathname).toBe(`/done/${connection.id}`)
  expect(returned(location)).toEqual({ connection_id: connection.id, ...error })
  expect(connection.status).toBe(status)
})
