import { expect, test } from 'vitest'
import { KEYS } from '../support/base-state.ts'
import { testEmulator } from '../support/emulator.ts'
import { bearer, overSocket, requestBytes } from '../support/wire-client.ts'

const NO_PATHS = ['http://[::1', 'http://evil.example/v1/data-views', 'http://%zz/', 'ftp://127.0.0.1/', '*']

test.for(NO_PATHS)('the target %s is refused in the error format', { tags: ['R253'] }, async (target) => {
  const { emulator } = await testEmulator()
  const headers = { Host: `127.0.0.1:${emulator.port}`, ...bearer(KEYS.KU) }
  const { text } = await overSocket(emulator.port, requestBytes({ path: target, headers }))
  expect(text).toMatch(/^HTTP\/1\.1 40[04] /)
  expect(text).toMatch(/X-RateLimit-Limit: 200\r\n/)
  const error = { status_code: expect.any(Number), error: expect.any(String) }
  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject(error)
})

test.for([
  ['/data-views', 'Nearest: GET /v1/data-views.'],
  ['/data-view?limit=1', 'Nearest: GET /v1/data-views.'],
  ['/@w1/batch-predictions/abc', 'Nearest: GET /@w1/v1/batch-predictions/abc.'],
])('the 404 of a path outside the API, %s, names the nearest operation', async ([path, nearest]) => {
  const { emulator } = await testEmulator()
  const response = await fetch(`${emulator.url}${path}`)
  expect(response.status).toBe(404)
  expect(JSON.stringify(await response.json())).toContain(nearest)
})

test('GET / has the addresses for clients that want no HTML, as tools that wait for a server expect', async () => {
  const { emulator } = await testEmulator()
  const { url } = emulator
  const addresses = { api: '/v1', control: '/__emulator', dashboard: '/__emulator/ui/' }
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }] as Record<string, string>[]) {
    const response = await fetch(url, { headers })
    expect([response.status, await response.json()]).toEqual([200, addresses])
  }
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
  const page = await fetch(url, { headers: { accept: 'text/html' }, redirect: 'manual' })
  expect([page.status, page.headers.get('location')]).toEqual([302, '/__emulator/ui/'])
  expect((await fetch(url, { method: 'POST' })).status).toBe(404)
})
