import { expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { fakeControl } from './fake-control.ts'
import { command } from './in-process.ts'
import { running } from './running.ts'

const LOADING = { error: 'service_unavailable', message: 'The sandbox is being loaded.' }

test('wait is the health check of a container: it uses the variables of the image, and needs no token', async () => {
  const { emulator } = await running({ host: '0.0.0.0', controlToken: 'made-at-the-start' })
  const env = {
    WORKSPACE_EMULATOR_HOST: '0.0.0.0',
    WORKSPACE_EMULATOR_PORT: String(emulator.port),
    WORKSPACE_EMULATOR_DATA: '/data',
  }
  const url = `http://127.0.0.1:${emulator.port}`
  expect(await command(['wait', '--timeout', '60s'], env)).toEqual({ code: 0, out: `Ready: ${url}`, err: '' })
  expect(JSON.parse((await command(['wait', '--json'], env)).out)).toEqual({ ready: true, url })
})

test('wait waits while the sandbox is loading; after the timeout, stdout is empty', async () => {
  const { url, asked } = await fakeControl(LOADING, 503)
  const argv = ['wait', '--url', url, '--timeout', '1s', '--json']
  const error = { message: 'Not ready after 1s: The sandbox is being loaded.', exit_code: 1 }
  expect(await command(argv)).toEqual({ code: 1, out: '', err: JSON.stringify({ error }) })
  expect(asked[0]).toMatchObject({ method: 'GET', path: '/__emulator/ready' })
})

test('without a timeout, wait sends one request', async () => {
  const { url } = await running()
  expect((await command(['wait', '--url', url, '--timeout', '0s'])).code).toBe(0)
  const loading = await fakeControl(LOADING, 503)
  expect((await command(['wait', '--url', loading.url, '--timeout', '0s'])).code).toBe(1)
  expect(loading.asked).toHaveLength(1)
})

test('wait ends when an emulator starts later', async () => {
  const port = await freePort()
  const waiting = command(['wait', '--url', `http://127.0.0.1:${port}`, '--timeout', '60s'])
  await running({ port })
  expect((await waiting).code).toBe(0)
})
