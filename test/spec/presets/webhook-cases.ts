import { createHmac } from 'node:crypto'
import { START } from '../../support/base-state.ts'
import { type Received, webhookReceiver } from '../../support/webhook-receiver.ts'
import type { PresetCase } from './preset-case.ts'
import type { Subject } from './setup.ts'

interface WebhookContext {
  /** Names of the batches whose webhooks have arrived, in order. */
  readonly arrived: () => readonly string[]
  /** Creates a batch with this name in its metadata. */
  readonly create: (name: string) => Promise<string>
  readonly complete: (id: string) => Promise<void>
  readonly advance: Subject['advance']
}

function webhookCase(
  preset: string,
  run: (context: WebhookContext) => Promise<unknown>,
  expected: unknown,
): PresetCase {
  return {
    preset,
    run: async ({ control, arm, batch, advance }) => {
      const receiver = await webhookReceiver()
      await control('POST', '/webhooks', { url: receiver.url })
      await arm(preset)
      return run({
        arrived: () => receiver.received.map(({ body }) => body.data?.metadata?.name ?? body.metadata?.name),
        create: (name) => batch({ metadata: { name } }),
        complete: async (id) => {
          await control('POST', `/batches/${id}/complete`)
          await advance('0s')
        },
        advance,
      })
    },
    expected,
  }
}

const SECRET = 'hook-secret'

/** Whether the signature of a webhook is that of its bytes, the age of its timestamp in virtual seconds, and its id. */
function checked({ headers, text }: Received) {
  const timestamp = String(headers['x-timestamp'])
  const expected = createHmac('sha256', SECRET).update(`${timestamp}.${text}`).digest('hex')
  return {
    isValid: headers['x-signature'] === expected,
    age: Date.parse(START) / 1_000 - Number(timestamp),
    id: headers['x-emulator-delivery'],
  }
}

/** Completes a batch for a receiver that refuses wrong signatures; what it has received within a day, with equal ids. */
function signed(preset: string, expected: readonly (readonly [isValid: boolean, age: number])[]): PresetCase {
  return {
    preset,
    run: async ({ control, arm, batch, advance }) => {
      const receiver = await webhookReceiver((received) => (checked(received).isValid ? 200 : 401))
      const signature = { header: 'X-Signature', timestamp_header: 'X-Timestamp', secret: SECRET }
      await control('PATCH', '/settings', { 'webhooks.signature': signature })
      await control('POST', '/webhooks', { url: receiver.url })
      await arm(preset)
      await control('POST', `/batches/${await batch()}/complete`)
      await advance('24h')
      const views = receiver.received.map(checked)
      return [views.map(({ isValid, age }) => [isValid, age]), new Set(views.map(({ id }) => id)).size]
    },
    expected: [expected, 1],
  }
}

export const webhookCases: readonly PresetCase[] = [
  // The tolerance is five minutes.
  signed('webhook-stale-signature', [[true, 301]]),
  signed('webhook-wrong-signature-once', [
    [false, 0],
    [true, -10],
  ]),
  webhookCase(
    'webhook-duplicate',
    async ({ create, complete, arrived }) => {
      await complete(await create('a'))
      return arrived()
    },
    ['a', 'a'],
  ),
  webhookCase(
    'webhook-out-of-order',
    async ({ create, complete, arrived }) => {
      for (const id of [await create('a'), await create('b')]) await complete(id)
      return arrived()
    },
    ['b', 'a'],
  ),
  webhookCase(
    'webhook-before-create-response',
    async ({ create, arrived }) => {
      await create('a')
      return arrived()
    },
    ['a'],
  ),
  webhookCase(
    'webhook-late',
    async ({ create, complete, arrived, advance }) => {
      await complete(await create('a'))
      await advance('9m')
      const before = arrived()
      await advance('1m')
      return [before, arrived()]
    },
    [[], ['a']],
  ),
  webhookCase(
    'webhook-dropped',
    async ({ create, complete, arrived, advance }) => {
      await complete(await create('a'))
      await advance('24h')
      return arrived()
    },
    [],
  ),
]
