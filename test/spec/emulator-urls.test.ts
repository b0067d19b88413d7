import { expect, test } from 'vitest'
import { KEYS } from '../support/base-state.ts'
import { aBatch, batchEmulator, linesOf } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { type Said, send } from '../support/send.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'

/** The status of a GET of a URL from a response, as a browser would open it. */
const opened = async (url: string) => (await fetch(url)).status

test.for<[how: string, prefix: string, said: Said, name: string]>([
  ['the default sandbox', '', {}, ''],
  ['a sandbox of the key', '', { authorization: `Bearer ${KEYS.KU}@w1` }, '/@w1'],
  ['a sandbox of a header', '', { headers: { 'x-emulator-sandbox': 'w1' } }, '/@w1'],
  ['a sandbox of the path', '/@w1', {}, '/@w1'],
])('URLs in responses of %s lead back to it', async ([, prefix, said, name]) => {
  const emulator = await batchEmulator()
  const root = emulator.emulator.url + name
  const { body } = await send(emulator, 'POST', `${prefix}/v1/connections`, { ...said, json: {} })
  expect(body.redirect_url).toMatch(new RegExp(`^${root}/consent/connections/[\\w-]+$`))
  const { type } = (await send(emulator, 'GET', `${prefix}/v1/batch-predictions/none`, said)).body
  expect(type).toBe(`${root}/__emulator/problems/not_found`)
  expect([await opened(body.redirect_url), await opened(type)]).toEqual([200, 200])
})

test('URLs in a response have the origin of its request', async () => {
  const emulator = await batchEmulator()
  const host = `localhost:${emulator.emulator.port}`
  const { body } = await send(emulator, 'GET', '/v1/batch-predictions/none', { headers: { host } })
  expect(body.type).toBe(`http://${host}/__emulator/problems/not_found`)
})

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
