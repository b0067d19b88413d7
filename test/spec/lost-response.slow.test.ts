import { expect, test } from 'vitest'
import { aBatch } from '../support/batches.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'
import { viaFetch, viaHttp } from '../support/wire-client.ts'
import { subjectOf } from './presets/setup.ts'
import { parse } from './presets/views.ts'

const ROUNDS = 100

test.for([
  ['fetch', viaFetch],
  ['node:http', viaHttp()],
] as const)(
  'lost-response-after-commit, 100 times through %s: a reset, then the replay, one batch, one webhook',
  { tags: ['R111'] },
  async ([, client]) => {
    const { sandbox, control, arm, call, advance } = await subjectOf(client)
    const receiver = await webhookReceiver()
    await control('POST', '/webhooks', { url: receiver.url })
    await arm('lost-response-after-commit', { when: { nth: 1, by: 'idempotency_key' } })
    const ids: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const sent = { json: aBatch(), headers: { 'Idempotency-Key': `key-${round}` } }
      const first = await call('POST', '/batch-predictions', sent)
      expect([first.status, first.error]).toEqual([
        undefined,
        expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
      ])
      const second = await call('POST', '/batch-predictions', sent)
      expect([second.status, sandbox.log.entries().at(-1)?.idempotency]).toEqual([200, 'replay'])
      ids.push(parse(second.body).id)
    }
    await advance('24h')
    const told = receiver.received.map(({ body }) => body.data?.id ?? body.id)
    expect(told.toSorted()).toEqual(ids.toSorted())
    expect([...sandbox.store.rows('batch_predictions').keys()]).toEqual(ids)
  },
)
