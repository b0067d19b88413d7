import { expect, test } from 'vitest'
import { aBatch } from '../support/batches.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'
import { viaFetch, viaHttp } from '../support/wire-client.ts'
import { setup } from './presets/setup.ts'
import { parse } from './presets/views.ts'

const ROUNDS = 100

test.for([
  ['fetch', viaFetch],
  ['node:http', viaHttp()],
] as const)(
  'lost-response-after-commit, 100 times through %s: a reset, then the replay, one batch, one webhook',
  { tags: ['R111'] },
  async ([, client]) => {
    const { subject } = await setup()
    const on = await subject(client)
    const receiver = await webhookReceiver()
    await on.control('POST', '/webhooks', { url: receiver.url })
    await on.arm('lost-response-after-commit', { when: { nth: 1, by: 'idempotency_key' } })
    const ids: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const call = { json: aBatch(), headers: { 'Idempotency-Key': `key-${round}` } }
      const first = await on.call('POST', '/batch-predictions', call)
      expect(first).toMatchObject({
        status: undefined,
        error: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
      })
      const second = await on.call('POST', '/batch-predictions', call)
      expect(second.status).toBe(200)
      ids.push(parse(second.body).id)
      expect(on.sandbox.log.entries().at(-1)?.idempotency).toBe('replay')
    }
    expect([...on.sandbox.store.rows('batch_predictions').keys()]).toEqual(ids)
    await on.control('POST', '/clock/advance', { by: '24h' })
    const told = receiver.received.map(({ body }) => body.data?.id ?? body.id)
    expect(told.toSorted()).toEqual(ids.toSorted())
    expect(on.sandbox.store.rows('batch_predictions').size).toBe(ROUNDS)
  },
)
