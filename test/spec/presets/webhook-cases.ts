import { createHmac } from 'node:crypto'
import { START } from '../../support/base-state.ts'
import { type Received, webhookReceiver } from '../../support/webhook-receiver.ts'
import type { PresetCase } from './setup.ts'

/** Completes the batches a and b; whose webhooks have arrived after 9 minutes, after 10, and after a day. */
function delivered(preset: string, ...expected: readonly string[]): PresetCase {
  return {
    preset,
    run: async ({ control, arm, batch, advance }) => {
      const receiver = await webhookReceiver()
      await control('POST', '/webhooks', { url: receiver.url })
      await arm(preset)
      for (const id of [await batch({ metadata: { name: 'a' } }), await batch({ metadata: { name: 'b' } })]) {
        await control('POST', `/batches/${id}/complete`)
        await advance('0s')
      }
      const arrived: string[] = []
      for (const by of ['9m', '1m', '24h']) {
        await advance(by)
        arrived.push(receiver.received.map(({ body }) => (body.data ?? body).metadata.name).join(''))
      }
      return arrived
    },
    expected,
  }
}

const SECRET = 'hook-secret'

/** Whether the signature of a webhook is that of its bytes, and the age of its timestamp in virtual seconds. */
function checked({ headers, text }: Received): readonly [isValid: boolean, age: number] {
  const timestamp = String(headers['x-timestamp'])
  const expected = createHmac('sha256', SECRET).update(`${timestamp}.${text}`).digest('hex')
  return [headers['x-signature'] === expected, Date.parse(START) / 1_000 - Number(timestamp)]
}

/** Completes a batch for a receiver that refuses wrong signatures; what it has received within a day, with equal ids. */
function signed(
  preset: string,
  ...expected: readonly (readonly [isValid: boolean, age: number])[]
): PresetCase {
  return {
    preset,
    run: async ({ control, arm, batch, advance }) => {
      const receiver = await webhookReceiver((received) => (checked(received)[0] ? 200 : 401))
      const signature = { header: 'X-Signature', timestamp_header: 'X-Timestamp', secret: SECRET }
      await control('PATCH', '/settings', { 'webhooks.signature': signature })
      await control('POST', '/webhooks', { url: receiver.url })
      await arm(preset)
      await control('POST', `/batches/${await batch()}/complete`)
      await advance('24h')
      const ids = receiver.received.map(({ headers }) => headers['x-emulator-delivery'])
      return [receiver.received.map(checked), new Set(ids).size]
    },
    expected: [expected, 1],
  }
}

export const webhookCases: readonly PresetCase[] = [
  // The tolerance is five minutes.
  signed('webhook-stale-signature', [true, 301]),
  signed('webhook-wrong-signature-once', [false, 0], [true, -10]),
  delivered('webhook-duplicate', 'aab', 'aab', 'aab'),
  delivered('webhook-out-of-order', 'ba', 'ba', 'ba'),
  delivered('webhook-late', 'b', 'ba', 'ba'),
  delivered('webhook-dropped', 'b', 'b', 'b'),
  {
    preset: 'webhook-before-create-response',
    run: async ({ control, arm, batch }) => {
      const receiver = await webhookReceiver()
      await control('POST', '/webhooks', { url: receiver.url })
      await arm('webhook-before-create-response')
      return (await batch()) === receiver.received[0]?.body.id
    },
    expected: true,
  },
]
