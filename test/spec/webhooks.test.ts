import { expect, test } from 'vitest'
import { Chance } from '../../src/kernel/random.ts'
import { batchAnswer } from '../../src/resources/batch-predictions/answer.ts'
import { callBatches } from '../support/batch-calls.ts'
import { aBatch, bring, cancel, createBatch, intervene, linesOf, retrieve } from '../support/batches.ts'
import { deliveriesOf, pass, webhookWorld } from '../support/webhook-world.ts'
import type { TestWorld } from '../support/world.ts'

const TERMINAL = ['completed', 'failed', 'expired', 'cancelled'] as const

/** Takes a batch to a terminal state, and its webhook to the receiver. */
async function end(world: TestWorld, id: string, status: string): Promise<void> {
  if (status === 'completed') await pass(world, '10s')
  else if (status === 'cancelled') {
    await cancel(world, id)
    await pass(world, '1s')
  } else {
    await pass(world, '2100ms')
    intervene(world, status === 'failed' ? 'fail' : 'expire', id)
    await pass(world, '0s')
  }
}

test.for(TERMINAL)('R232 T18 a batch that becomes %s is told of once', async (status) => {
  const { world, receiver } = await webhookWorld()
  const { id } = await createBatch(world)
  await end(world, id, status)
  await pass(world, '40d')
  expect(receiver.received.map(({ headers, body }) => [headers['x-emulator-event'], body.status])).toEqual([
    [`batch_prediction.${status}`, status],
  ])
})

test.for(['validating', 'in_progress', 'finalizing', 'cancelling'])(
  'R232 of a batch that is %s nobody has been told',
  async (status) => {
    const { world, receiver } = await webhookWorld()
    const { id } = await createBatch(world)
    await bring(world, id, status)
    await pass(world, '0s')
    expect([receiver.received, await deliveriesOf(world)]).toEqual([[], []])
  },
)

test.for(TERMINAL)(
  'R208 R234 R235 R236 R086 the webhook of a batch that became %s is what a retrieve shows at that instant',
  async (status) => {
    const seen: { text: string; results: number; lines: number }[] = []
    const { world, receiver } = await webhookWorld(async ({ body }) => {
      const { text } = await world.get(`/batch-predictions/${body.id}`)
      const results = await world.get(body.results_url.slice('/v1'.length))
      seen.push({ text, results: results.status, lines: results.text.split('\n').filter(Boolean).length })
      return 200
    })
    const { id } = await createBatch(world, { items: 4, metadata: { b: '2', a: '1' } })
    await end(world, id, status)
    const [webhook, ...others] = receiver.received
    expect([webhook?.method, others]).toEqual(['POST', []])
    expect(webhook?.headers['content-type']).toBe('application/json')
    expect(seen).toEqual([{ text: webhook?.text, results: 200, lines: 4 }])
    expect(batchAnswer().safeParse(webhook?.body)).toMatchObject({ success: true })
    expect(webhook?.body).toMatchObject({ id, status })
    const { total, ...parts } = webhook?.body.request_counts ?? {}
    expect([total, Object.values<number>(parts).reduce((sum, count) => sum + count)]).toEqual([4, 4])
  },
)

test('R234 R208 keys that mean something to JavaScript are delivered as retrieve shows them', async () => {
  const { world, receiver } = await webhookWorld()
  const metadata = JSON.parse('{"__proto__":"p","constructor":"c","":"e","10":"n"}')
  const { id } = await createBatch(world, { metadata })
  await end(world, id, 'completed')
  expect(receiver.received[0]?.text).toBe((await world.get(`/batch-predictions/${id}`)).text)
})

test('R208 R236 results_url is the one of a retrieve, whatever it is relative to', async () => {
  const settings = { 'batch.results_url': 'base_relative' }
  const { world, receiver } = await webhookWorld(undefined, { settings })
  const { id } = await createBatch(world)
  await end(world, id, 'completed')
  expect(receiver.received[0]?.body.results_url).toBe(`/batch-predictions/${id}/results`)
  expect(receiver.received[0]?.text).toBe((await world.get(`/batch-predictions/${id}`)).text)
})

test('R233 R105 repeated cancels, clock jumps and a restart tell nobody a second time', async () => {
  const { world, receiver } = await webhookWorld()
  const { id } = await createBatch(world)
  await cancel(world, id)
  await cancel(world, id)
  await pass(world, '1s')
  expect((await cancel(world, id)).body.status).toBe('cancelled')
  await pass(world, '1s')
  const next = await world.restart()
  expect((await cancel(next, id)).body.status).toBe('cancelled')
  await pass(next, '40d')
  expect(receiver.received.map(({ body }) => body.status)).toEqual(['cancelled'])
  expect(await deliveriesOf(next)).toHaveLength(1)
})

test('R233 R232 a restart between the transition and the outcome repeats the delivery, not the event', async () => {
  const { world, receiver } = await webhookWorld(({ headers }) =>
    headers['x-emulator-delivery-attempt'] === '1' ? undefined : 200,
  )
  const { id } = await createBatch(world)
  intervene(world, 'complete', id)
  await receiver.arrived(1)
  const next = await world.restart()
  await pass(next, '40d')
  const [delivery, ...others] = await deliveriesOf(next)
  expect(others).toEqual([])
  expect(delivery.attempts).toMatchObject([
    { attempt: 1, outcome: 'interrupted' },
    { attempt: 2, outcome: 'delivered', status: 200 },
  ])
  expect(receiver.received.map(({ text, headers }) => [text, headers['x-emulator-delivery']])).toEqual([
    [receiver.received[0]?.text, delivery.id],
    [receiver.received[0]?.text, delivery.id],
  ])
})

test('T38 R234 a late retry repeats the object of the transition, also after its results were removed', async () => {
  const settings = { 'webhooks.retry': ['30d'] }
  let status = 503
  const { world, receiver } = await webhookWorld(() => status, { settings })
  const { id } = await createBatch(world)
  await end(world, id, 'completed')
  status = 200
  await pass(world, '31d')
  expect((await retrieve(world, id)).results_url).toBe(null)
  const [first, second] = receiver.received
  expect(first?.body.results_url).toBe(`/v1/batch-predictions/${id}/results`)
  expect([receiver.received.length, second?.text]).toEqual([2, first?.text])
})

test('R236 results can be read at the instant of the webhook, and the clock stands at it', async () => {
  const instants: unknown[] = []
  const { world } = await webhookWorld(async ({ body }) => {
    instants.push([new Date(world.now()).toISOString(), (await linesOf(world, body.id)).length])
    return 200
  })
  await createBatch(world, { items: 1 })
  await createBatch(world, { items: 60 })
  await pass(world, '1h')
  expect(instants).toEqual([
    ['2026-03-01T12:00:03.200Z', 1],
    ['2026-03-01T12:00:03.400Z', 60],
  ])
})

test('R221 R233 in 200 interleavings a cancel and the end of a batch make one webhook, that of the outcome', async () => {
  const { world } = await webhookWorld(undefined, { settings: { 'batch.cancel_delay': '0s' }, limits: false })
  const { sandbox } = world
  const ends = new Set<string>()
  for (let seed = 0; seed < 200; seed++) {
    const chance = new Chance(seed, 'webhook race')
    const { id } = callBatches(sandbox, 'create', { body: aBatch({ items: 2 }) }).body
    const ending = chance.pick(['finish', 'window'])
    const pace = {
      validating: '0s',
      in_progress: ending === 'finish' ? '1h' : '25h',
      finalizing: 'immediate',
    }
    intervene(world, 'change', id, { pace })
    const due = sandbox.clock.now + (ending === 'finish' ? 1 : 24) * 3_600_000
    await sandbox.advance({ to: () => due - chance.pick([0, 1]) })
    callBatches(sandbox, 'cancel', { id })
    await sandbox.advance({ to: () => due + 1 })
    callBatches(sandbox, 'cancel', { id })
    await sandbox.advance({ to: () => due + 1_000 })
    const { status } = callBatches(sandbox, 'retrieve', { id }).body
    const made = world.state('webhook_deliveries').filter(({ ref }) => ref === `batch_predictions/${id}`)
    expect(made.map(({ type }) => type)).toEqual([`batch_prediction.${status}`])
    ends.add(status)
  }
  expect([...ends].sort()).toEqual(['cancelled', 'completed', 'expired'])
})

test('R233 a batch that is terminal from the start, or is edited, tells nobody', async () => {
  const { world, receiver } = await webhookWorld()
  const { id } = await createBatch(world)
  await end(world, id, 'completed')
  const [batch] = world.state('batch_predictions')
  world.sandbox.change(({ tx }) => tx.put('batch_predictions', { ...batch, id: 'copy' }))
  await pass(world, '40d')
  expect(receiver.received).toHaveLength(1)
})
