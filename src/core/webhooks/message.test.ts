import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { outboxEmulator } from '../../../test/support/webhook-sandbox.ts'
import { Settings } from '../assumptions.ts'
import { change } from '../sandboxes/change.ts'
import { beginAttempt } from './delivery.ts'
import { sign, webhookRequest } from './message.ts'
import type { DeliveryFaults } from './records.ts'

async function delivery(body: object = { name: 'Grüße 🎉' }) {
  const emulator = await outboxEmulator()
  const [{ id } = { id: '' }] = emulator.tell(body)
  return change(emulator.sandbox, (scope) => beginAttempt(scope, emulator.delivery(id))).result
}

const signing = (settings: object = {}, ...secrets: readonly string[]) => ({
  settings: new Settings({ ...settings }),
  secrets,
  host: () => 0,
})

test('a webhook contains the object as JSON, its type, the id of its delivery and the number of the attempt', async () => {
  const sent = await delivery()
  const { url, headers, body } = webhookRequest(sent, signing())
  expect(url).toBe('http://127.0.0.1:9000/hook')
  expect(JSON.parse(body.toString('utf8'))).toEqual({ name: 'Grüße 🎉' })
  expect(headers).toEqual({
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    'User-Agent': 'agent-workspace-emulator',
    'X-Emulator-Event': 'thing.made',
    'X-Emulator-Delivery': sent.id,
    'X-Emulator-Delivery-Attempt': '1',
  })
})

test('the signature is the HMAC-SHA256 of the exact bytes', async () => {
  const sent = await delivery()
  const settings = { 'webhooks.signature': { header: 'X-Sign', secret: 'general', prefix: 'sha256=' } }
  const { headers, body } = webhookRequest(sent, signing(settings))
  const expected = createHmac('sha256', 'general').update(body).digest('hex')
  expect(headers['X-Sign']).toBe(`sha256=${expected}`)
  // RFC 4231, test case 2.
  expect(sign(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

test('the secret of a subscription takes precedence over that of the settings, and signs without it, too', async () => {
  const sent = await delivery()
  const settings = { 'webhooks.signature': { header: 'X-Sign', secret: 'general' } }
  const own = webhookRequest(sent, signing(settings, 'own'))
  expect(own.headers['X-Sign']).toBe(sign(own.body, 'own'))
  const alone = webhookRequest(sent, signing({}, 'own'))
  expect(alone.headers['X-Emulator-Signature']).toBe(sign(alone.body, 'own'))
})

test('X4 keys with a meaning in JavaScript are sent unchanged', async () => {
  const body = '{"__proto__":{"x":1},"constructor":"c","":0}'
  expect(webhookRequest(await delivery(JSON.parse(body)), signing()).body.toString()).toBe(body)
})

async function faulted(faults: Omit<DeliveryFaults, 'rules'>, how = signing(), body: object = { a: 1 }) {
  return webhookRequest({ ...(await delivery(body)), faults: { rules: ['r'], ...faults } }, how)
}

test('patches change the body one after the other, and the signature is that of the sent body', async () => {
  const body = { a: 1, b: { c: 2 } }
  const patches = [{ a: null, b: { d: 3 } }, JSON.parse('{"b":{"c":null},"__proto__":"p"}')]
  const sent = await faulted({ body: patches }, signing({}, 's'), body)
  expect(sent.body.toString()).toBe('{"b":{"d":3},"__proto__":"p"}')
  const length = String(sent.body.length)
  const signature = sign(sent.body, 's')
  expect(sent.headers).toMatchObject({ 'Content-Length': length, 'X-Emulator-Signature': signature })
})

test('a patch that is no object is the whole body', async () => {
  expect((await faulted({ body: [null] })).body.toString()).toBe('null')
  expect((await faulted({ body: [['a'], 'text'] })).body.toString()).toBe('"text"')
})

const signed = { 'webhooks.signature': { header: 'X-Sign', secret: 'general', prefix: 'v1=' } }

test('a wrong signature looks like a right one, and is sent even if webhooks are not signed', async () => {
  expect((await faulted({ sign: 'wrong' })).headers['X-Emulator-Signature']).toMatch(/^[0-9a-f]{64}$/)
  for (const secrets of [[], ['own']]) {
    const { headers, body } = await faulted({ sign: 'wrong' }, signing(signed, ...secrets))
    expect(headers['X-Sign']).toMatch(/^v1=[0-9a-f]{64}$/)
    expect(headers['X-Sign']).not.toBe(`v1=${sign(body, secrets[0] ?? 'general')}`)
  }
})
