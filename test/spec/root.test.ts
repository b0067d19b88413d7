import { expect, test } from 'vitest'
import { startEmulator } from '../../src/index.ts'

test('GET / answers 200 with addresses to clients that want no HTML, as tools that wait for a server expect', async () => {
  await using emulator = await startEmulator({ port: 0, ephemeral: true })
  for (const accept of [undefined, '*/*', 'application/json']) {
    const response = await fetch(emulator.url, accept === undefined ? {} : { headers: { accept } })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      api: '/v1',
      control: '/__emulator',
      dashboard: '/__emulator/ui/',
    })
  }
  expect((await fetch(emulator.url, { method: 'HEAD' })).status).toBe(200)
  const page = await fetch(`${emulator.url}/`, { headers: { accept: 'text/html' }, redirect: 'manual' })
  expect([page.status, page.headers.get('location')]).toEqual([302, '/__emulator/ui/'])
  expect((await fetch(emulator.url, { method: 'POST' })).status).toBe(404)
})
