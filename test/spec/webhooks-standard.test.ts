// @module-tag U060
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { createBatch } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'
import { armed } from '../support/webhook-faults.ts'
import type { React, Received } from '../support/webhook-receiver.ts'

const secretOf = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`
const FIRST = secretOf('the first secret, of 32 bytes...')
const SECOND = secretOf('the second secret, of 32 bytes..')

/** Standard Webhooks with real timestamps, which the library of receivers compares with its own clock. */
const STANDARD = { 'webhooks.scheme': 'standard', 'webhooks.timestamp': 'real' }

async function standardEmulator(react?: React, settings: object = {}) {
  const made = await webhookEmulator(react, { settings: { ...STANDARD, ...settings } })
  const patched = await made.emulator.control('PATCH', '/webhooks/hook', { secret: FIRST })
  expect(patched.status).toBe(200)
  return made
}

const fits = ({ text, headers }: Received, secret: string): boolean => {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

async function sendOne(emulator: TestEmulator): Promise<void> {
  await createBatch(emulator, { items: 1 })
  await pass(emulator, '1h')
}

test('a webhook is verified by a library of Standard Webhooks, and its id stays the same on each attempt', async () => {
  const { emulator, receiver } = await standardEmulator(
    ({ headers }) => (headers['x-emulator-delivery-attempt'] === '1' ? 500 : 200),
    { 'webhooks.retry': ['10s'] },
  )
  await sendOne(emulator)
  expect(receiver.received.map((each) => fits(each, FIRST))).toEqual([true, true])
  expect(receiver.received.map((each) => fits(each, SECOND))).toEqual([false, false])
  const [delivery] = await deliveriesOf(emulator)
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([delivery.id, delivery.id])
  expect(receiver.received[0]?.headers).not.toHaveProperty('x-emulator-signature')
})

test('the timestamp is that of the virtual clock unless a setting says otherwise', async () => {
  const { emulator, receiver } = await standardEmulator(undefined, { 'webhooks.timestamp': 'virtual' })
  await sendOne(emulator)
  const [{ text = '', headers = {} } = {}] = receiver.received
  const at = new Date((await deliveriesOf(emulator))[0].attempts[0].at)
  at.setMilliseconds(0)
  expect(headers['webhook-timestamp']).toBe(String(at.getTime() / 1000))
  expect(headers['webhook-signature']).toBe(new Webhook(FIRST).sign(String(headers['webhook-id']), at, text))
})

test('after a rotation both secrets verify until the overlap ends, then only the new one', async () => {
  const { emulator, receiver } = await standardEmulator()
  const rotation = { secret: SECOND, overlap: '2h' }
  const { body } = await emulator.control('POST', '/webhooks/hook/rotate', rotation)
  expect(body).toMatchObject({ secret: SECOND, rotates_until: '2026-03-01T14:00:00.000Z' })
  await sendOne(emulator)
  await pass(emulator, '1h')
  await sendOne(emulator)
  const verified = [FIRST, SECOND].map((secret) => receiver.received.map((each) => fits(each, secret)))
  expect(verified).toEqual([
    [true, false],
    [true, true],
  ])
  const [shown] = (await emulator.control('GET', '/webhooks')).body.data
  expect(shown).toMatchObject({ has_secret: true })
  expect(shown).not.toHaveProperty('rotates_until')
  expect(JSON.stringify((await emulator.control('GET', '/state')).body)).not.toMatch(/whsec_/)
})

test('without a secret a rotation makes a new one each time, and shows it once', async () => {
  const { emulator, receiver } = await standardEmulator()
  const rotate = async () => (await emulator.control('POST', '/webhooks/hook/rotate', {})).body.secret
  const secrets: string[] = [await rotate(), await rotate()]
  await sendOne(emulator)
  const [webhook] = receiver.received
  expect(new Set(secrets).size).toBe(2)
  expect([FIRST, ...secrets].map((secret) => webhook && fits(webhook, secret))).toEqual([true, true, true])
  expect(String(webhook?.headers['webhook-signature']).split(' ')).toHaveLength(3)
})

test('a wrong, a missing and an old signature are refused by the library', async () => {
  const { emulator, receiver } = await standardEmulator()
  for (const sign of ['wrong', 'missing', 'old'] as const) {
    await armed(emulator, { id: sign, match: { webhook: '*' }, do: [{ deliver: { sign } }], times: 1 })
    await sendOne(emulator)
    await emulator.control('DELETE', `/faults/${sign}`)
  }
  expect(receiver.received.map((each) => fits(each, FIRST))).toEqual([false, false, false])
  expect(receiver.received.map(({ headers }) => 'webhook-signature' in headers)).toEqual([true, false, true])
})

test('410 disables the subscription, without a retry, until it is enabled again', async () => {
  let response = 410
  const { emulator, receiver } = await standardEmulator(() => response, { 'webhooks.retry': ['10s', '10s'] })
  await sendOne(emulator)
  await sendOne(emulator)
  expect(receiver.received).toHaveLength(1)
  const [hook] = (await emulator.control('GET', '/webhooks')).body.data
  expect(hook).toHaveProperty('disabled_at')
  const [{ id }] = await deliveriesOf(emulator)
  const refused = await emulator.control('POST', `/webhooks/deliveries/${id}/redeliver`)
  expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('disabled since')])
  response = 200
  const { body } = await emulator.control('PATCH', '/webhooks/hook', { disabled: false })
  expect(body).not.toHaveProperty('disabled_at')
  await sendOne(emulator)
  expect(receiver.received).toHaveLength(2)
})

test('Retry-After of a receiver is the least wait before the next attempt', async () => {
  const inTwoHours = () => new Date(Date.now() + 7_200_000).toUTCString()
  const waits = [
    [429, () => '90'],
    [503, inTwoHours],
    [500, () => '3600'],
    [504, () => '1'],
  ] as const
  let attempt = 0
  const { emulator } = await standardEmulator(
    (_, res) => {
      const [status, after] = waits[attempt++] ?? []
      if (after !== undefined) res.setHeader('Retry-After', after())
      return status ?? 200
    },
    { 'webhooks.retry': ['10s', '10s', '10s', '10s'] },
  )
  await createBatch(emulator, { items: 1 })
  await pass(emulator, '10h')
  const [{ attempts }] = await deliveriesOf(emulator)
  const times = attempts.map(({ at }: { at: string }) => Date.parse(at))
  const seconds = times.slice(1).map((at: number, n: number) => (at - times[n]) / 1000)
  expect(seconds).toEqual([90, expect.toSatisfy((each) => each >= 7198 && each <= 7201), 10, 10])
})

test('a secret of another form is refused with the form to use', async () => {
  const { emulator } = await standardEmulator()
  const signature = { header: 'X-S', secret: 'plain' }
  const tries = [
    ['POST', '/webhooks', { inbox: true, secret: 'plain' }, '/secret'],
    ['PATCH', '/webhooks/hook', { secret: 'whsec_***' }, '/secret'],
    ['POST', '/webhooks/hook/rotate', { secret: 'whsec_' }, '/secret'],
    ['PATCH', '/settings', { 'webhooks.signature': signature }, '/webhooks.signature'],
  ] as const
  for (const [method, path, body, pointer] of tries) {
    const { body: refused } = await emulator.control(method, path, body)
    const detail = expect.stringContaining('whsec_')
    expect(refused, path).toMatchObject({ status_code: 400, details: { errors: [{ pointer, detail }] } })
  }
})

test('a secret that was stored under the other scheme is not used: the attempt says why', async () => {
  const { emulator, receiver } = await webhookEmulator()
  await emulator.control('PATCH', '/webhooks/hook', { secret: 'plain' })
  await emulator.control('PATCH', '/settings', STANDARD)
  await sendOne(emulator)
  expect(receiver.received).toEqual([])
  expect((await deliveriesOf(emulator))[0].attempts).toMatchObject([
    { outcome: 'refused', error: expect.stringContaining('must be whsec_ and base64') },
  ])
})

test('under the default scheme a rotation is refused, and 410 and Retry-After mean nothing', async () => {
  const { emulator, receiver } = await webhookEmulator(
    (_, res) => {
      res.setHeader('Retry-After', '600')
      return receiver.received.length === 1 ? 410 : 429
    },
    { settings: { 'webhooks.retry': ['10s', '10s'] } },
  )
  const { status, body } = await emulator.control('POST', '/webhooks/hook/rotate', {})
  expect([status, body.message]).toEqual([409, expect.stringContaining('webhooks.scheme')])
  await sendOne(emulator)
  expect(receiver.received).toHaveLength(3)
})

test('the built-in inbox checks every secret that is valid', async () => {
  const { emulator } = await standardEmulator()
  const { body } = await emulator.control('POST', '/webhooks', { inbox: true, secret: FIRST })
  await emulator.control('POST', `/webhooks/${body.id}/rotate`, { secret: SECOND })
  await sendOne(emulator)
  const [message] = (await emulator.control('GET', '/webhooks/inbox')).body.data
  expect([message.signature, message.signature_problem]).toEqual(['valid', null])
})
