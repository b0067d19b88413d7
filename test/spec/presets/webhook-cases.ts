import { aBatch } from '../../support/batches.ts'
import { webhookReceiver } from '../../support/webhook-receiver.ts'
import type { PresetCase } from './preset-case.ts'
import type { Stage } from './stage.ts'
import { parse } from './views.ts'

interface WebhookContext {
  readonly stage: Stage
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
    run: async (stage) => {
      const receiver = await webhookReceiver()
      await stage.control('POST', '/webhooks', { url: receiver.url })
      await stage.arm(preset)
      return run({
        stage,
        arrived: () => receiver.received.map(({ body }) => body.data?.metadata?.name ?? body.metadata?.name),
        create: async (name) => {
          const view = await stage.call('POST', '/batch-predictions', {
            json: aBatch({ metadata: { name } }),
          })
          return parse(view.body).id
        },
        complete: async (id) => {
          await stage.control('POST', `/batches/${id}/complete`)
          // Responds when no delivery is in flight.
          await stage.control('POST', '/clock/advance', { by: '0s' })
        },
        advance: (by) => stage.control('POST', '/clock/advance', { by }),
      })
    },
    expected,
  }
}

export const webhookCases: readonly PresetCase[] = [
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
