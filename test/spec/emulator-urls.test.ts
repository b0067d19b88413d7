import { expect, test } from 'vitest'
import { aBatch, batchEmulator, linesOf } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'

/** The status of a GET of a URL from a response, as a browser would open it. */
const opened = async (url: string) => (await fetch(url)).status

const KEY = 'live_owner'

test.for<[how: string, prefix: string, token: string, header: Record<string, string>, at: string]>([
  ['the default sandbox', '', KEY, {}, '/__emulator'],
  ['a sandbox of the key', '', `${KEY}@w1`, {}, '/@w1/__emulator'],
  ['a sandbox of a header', '', KEY, { 'x-emulator-sandbox': 'w1' }, '/@w1/__emulator'],
  ['a sandbox of the path', '/@w1', KEY, {}, '/@w1/__emulator'],
])(
  'URLs in responses of %s lead back to it, at the origin of the request',
  async ([, prefix, token, header, at]) => {
    const { emulator } = await batchEmulator()
    const send = async (path: string, json?: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...header }
      const init = json === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(json) }
      const response = await fetch(`${emulator.url}${prefix}/v1${path}`, init)
      return (await response.json()) as { redirect_url: string; type: string }
    }
    const { redirect_url } = await send('/connections', {})
    const consent = `${emulator.url}${at.replace('/__emulator', '')}/consent/connections`
    expect(redirect_url).toMatch(new RegExp(`^${consent}/[\\w-]+$`))
    expect(await opened(redirect_url)).toBe(200)
    const { type } = await send('/batch-predictions/none')
    expect(type).toBe(`${emulator.url}${at}/problems/not_found`)
    expect(await opened(type)).toBe(200)
    // Another host name of the same server is another origin.
    const [host, headers] = [`http://localhost:${emulator.port}`, { authorization: `Bearer ${KEY}` }]
    const other = await (await fetch(`${host}/v1/batch-predictions/none`, { headers })).json()
    expect(other).toMatchObject({ type: `${host}/__emulator/problems/not_found` })
  },
)

async function failed(emulator: TestEmulator): Promise<string> {
  const { id } = (await emulator.post('/batch-predictions', aBatch())).body
  await emulator.control('POST', `/batches/${id}/fail`)
  return id
}

test('types of problems inside bodies can be opened, and no record contains a URL of the emulator', async () => {
  const emulator = await batchEmulator()
  const id = await failed(emulator)
  const { error } = (await emulator.get(`/batch-predictions/${id}`)).body
  expect(await opened(error.type)).toBe(200)
  const lines = await linesOf(emulator, id)
  for (const line of lines) expect(await opened(line.error.type)).toBe(200)
  await emulator.post('/connections', {})
  expect(JSON.stringify(emulator.sandbox.document())).not.toMatch(/__emulator|127\.0\.0\.1/)
  const elsewhere = await emulator.restart()
  const again = (await elsewhere.get(`/batch-predictions/${id}`)).body.error.type
  expect(again).toBe(`${elsewhere.emulator.url}/__emulator/problems/batch_failed`)
})

test('a webhook has the URLs of the server, so its object equals the response of retrieve', async () => {
  const receiver = await webhookReceiver()
  const emulator = await batchEmulator()
  await emulator.control('POST', '/webhooks', { url: receiver.url })
  const id = await failed(emulator)
  const { text } = await emulator.get(`/batch-predictions/${id}`)
  expect(JSON.parse(text).error.type).toContain(emulator.emulator.url)
  const [delivery] = emulator.state('webhook_deliveries')
  expect(JSON.stringify(delivery.body)).toBe(text)
})

test('a setting pins the types of problems', async () => {
  const emulator = await batchEmulator({ 'errors.type_base': 'https://errors.example' })
  expect((await emulator.get('/batch-predictions/none')).body.type).toBe('https://errors.example/not_found')
  const { error } = (await emulator.get(`/batch-predictions/${await failed(emulator)}`)).body
  expect(error.type).toBe('https://errors.example/batch_failed')
})
