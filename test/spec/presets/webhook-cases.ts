import { createHmac } from 'node:crypto'
import { START } from '../../support/base-state.ts'
import { aBatch } from '../../support/batches.ts'
import { type Received, webhookReceiver } from '../../support/webhook-receiver.ts'
import type { PresetCase } from './preset-case.ts'
import type { Subject } from './setup.ts'
import { parse } from './views.ts'

interface WebhookContext {
  readonly subject: Subject
  /** Names of the batches whose webhooks have arrived, in order. */
  readonly arrived: () => readonly string[]
  /** Creates a batch with this name in its metadata. */
  readonly create: (name: string) => Promise<string>
  readonly complete: (id: string) => Promise<unknown>
  readonly advance: (by: string) => Promise<unknown>
}

function webhookCase(
  preset: string,
  run: (context: WebhookContext) => Promise<unknown>,
  expected: unknown,
): PresetCase {
  return {
    preset,
    run: async (subject) => {
      const receiver = await webhookReceiver()
      await subject.control('POST', '/webhooks', { url: receiver.url })
      await subject.arm(preset)
      return run({
        subject,
        arrived: () => receiver.received.map(({ body }) => body.data?.metadata?.name ?? body.metadata?.name),
        create: async (name) => {
          const view = await subject.call('POST', '/batch-predictions', {
            json: aBatch({ metadata: { name } }),
          })
          return parse(view.body).id
        },
        complete: async (id) => {
          await subject.control('POST', `/batches/${id}/complete`)
          // Responds when no delivery is in flight.
          await subject.control('POST', '/clock/advance', { by: '0s' })
        },
        advance: (by) => subject.control('POST', '/clock/advance', { by }),
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

/** Completes a batch for a receiver that refuses wrong signatures; `view` is what it has received within a day. */
function signed(
  preset: string,
  view: (received: readonly Received[]) => unknown,
  expected: unknown,
): PresetCase {
  return {
    preset,
    run: async (subject) => {
      const receiver = await webhookReceiver((received) => (checked(received).isValid ? 200 : 401))
      const signature = { header: 'X-Signature', timestamp_header: 'X-Timestamp', secret: SECRET }
      await subject.control('PATCH', '/settings', { 'webhooks.signature': signature })
      await subject.control('POST', '/webhooks', { url: receiver.url })
      await subject.arm(preset)
      const { id } = parse((await subject.call('POST', '/batch-predictions', { json: aBatch() })).body)
      await subject.control('POST', `/batches/${id}/complete`)
      await subject.control('POST', '/clock/advance', { by: '24h' })
      return view(receiver.received)
    },
    expected,
  }
}

export const webhookCases: readonly PresetCase[] = [
  // The tolerance is five minutes.
  signed('webhook-stale-signature', (all) => all.map(checked).map(({ isValid, age }) => [isValid, age]), [
    [true, 301],
  ]),
  signed(
    'webhook-wrong-signature-once',
    (all) => {
      const views = all.map(checked)
      return [views.map(({ isValid }) => isValid), views[0]?.id === views[1]?.id, views.map(({ age }) => age)]
    },
    [[false, true], true, [0, -10]],
  ),
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
      const [a, b] = [await create('a'), await create('b')]
      await complete(a)
      await complete(b)
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
      return { before, then: arrived() }
    },
    { before: [], then: ['a'] },
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
