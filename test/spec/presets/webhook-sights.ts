import { aBatch } from '../../support/batches.ts'
import { webhookReceiver } from '../../support/webhook-receiver.ts'
import type { Sight } from './sight.ts'
import type { Stage } from './stage.ts'
import { parse } from './views.ts'

interface Told {
  readonly stage: Stage
  /** Names of the batches whose webhooks have arrived, in order. */
  readonly arrived: () => readonly string[]
  /** Creates a batch of a name, which it tells by its metadata. */
  readonly create: (name: string) => Promise<string>
  readonly complete: (id: string) => Promise<unknown>
  readonly advance: (by: string) => Promise<unknown>
}

function sight(preset: string, look: (told: Told) => Promise<unknown>, sees: unknown): Sight {
  return {
    preset,
    look: async (stage) => {
      const receiver = await webhookReceiver()
      await stage.control('POST', '/webhooks', { url: receiver.url })
      await stage.arm(preset)
      return look({
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
          // Answers when nothing is on its way any more.
          await stage.control('POST', '/clock/advance', { by: '0s' })
        },
        advance: (by) => stage.control('POST', '/clock/advance', { by }),
      })
    },
    sees,
  }
}

export const webhookSights: readonly Sight[] = [
  sight(
    'webhook-duplicate',
    async ({ create, complete, arrived }) => {
      await complete(await create('a'))
      return arrived()
    },
    ['a', 'a'],
  ),
  sight(
    'webhook-out-of-order',
    async ({ create, complete, arrived }) => {
      const [a, b] = [await create('a'), await create('b')]
      await complete(a)
      await complete(b)
      return arrived()
    },
    ['b', 'a'],
  ),
  sight(
    'webhook-before-create-response',
    async ({ create, arrived }) => {
      await create('a')
      return arrived()
    },
    ['a'],
  ),
  sight(
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
  sight(
    'webhook-dropped',
    async ({ create, complete, arrived, advance }) => {
      await complete(await create('a'))
      await advance('24h')
      return arrived()
    },
    [],
  ),
]
