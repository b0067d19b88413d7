import { expect, test } from 'vitest'
import type { RanEvent } from '../../src/core/time/scheduler.ts'
import { cancel, createBatch, intervene, retrieve } from '../support/batches.ts'
import { pass, webhookEmulator } from '../support/webhook-emulator.ts'

const HOUR = 3_600_000

/** The receiver refuses three webhooks of four at first: delivery n succeeds at attempt ((n - 1) mod 4) + 1. */
function stubborn() {
  const seen = new Map<string, number>()
  return ({ headers }: { headers: Readonly<Record<string, string | string[] | undefined>> }) => {
    const id = String(headers['x-emulator-delivery'])
    const attempt = (seen.get(id) ?? 0) + 1
    seen.set(id, attempt)
    const needed = ([...seen.keys()].indexOf(id) % 4) + 1
    return attempt < needed ? 503 : 204
  }
}

test('an advance of 30 days runs all batches, webhook retries and automations in order, and a GET agrees with its result', async () => {
  const { emulator, receiver } = await webhookEmulator(stubborn(), {
    settings: { 'webhooks.retry': ['10m', '3h', '2d'] },
    collections: {
      agents: [{ id: 'agent-a', name: 'Clerk', _emulator: { teamspace_id: 'ts-a' } }],
      automations: [
        { id: 'nightly', _emulator: { agent_id: 'agent-a', schedule: '30 2 * * *' } },
        { id: 'weekly', _emulator: { agent_id: 'agent-a', schedule: '0 6 * * 1' } },
      ],
    },
  })
  const start = emulator.now()
  const ids: string[] = []
  for (let n = 0; n < 12; n++) ids.push((await createBatch(emulator, { items: 50 + n })).id)
  const [cancelled = '', held = ''] = ids
  intervene(emulator, 'change', held, { hold: true })
  await cancel(emulator, cancelled)

  const result = await pass(emulator, '30d')

  expect(Date.parse(result.to) - start).toBe(30 * 24 * HOUR)
  expect(result.failed).toEqual([])
  const instants = result.events.map(({ at }) => Date.parse(at))
  expect(instants).toEqual([...instants].sort((a, b) => a - b))
  const of = (kind: string) => result.events.filter((event) => event.kind === kind)
  expect(of('automation.fire').filter(({ ref }) => ref === 'automations/nightly')).toHaveLength(30)
  expect(of('automation.fire').filter(({ ref }) => ref === 'automations/weekly')).toHaveLength(5)
  expect(of('batch.complete')).toHaveLength(10)
  expect(of('batch.expire')).toMatchObject([{ ref: `batch_predictions/${held}`, to: 'expired' }])
  // The attempts of each delivery have their own instants: first the transition, then one after each delay.
  expect(attemptsOf(result.events)).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])

  const { data } = (await emulator.control('GET', '/webhooks/deliveries')).body
  expect(data.map(({ status }: { status: string }) => status)).toEqual(Array(12).fill('delivered'))
  expect(receiver.received).toHaveLength(12 + 9 + 6 + 3)
  const { next } = (await emulator.control('GET', '/clock')).body
  expect(Date.parse(next.at)).toBeGreaterThan(Date.parse(result.to))
  for (const id of ids) {
    const batch = await retrieve(emulator, id)
    const last = result.events.findLast(
      ({ ref, to }) => ref === `batch_predictions/${id}` && to !== undefined,
    )
    expect(batch.status).toBe(last?.to)
    // The results of a batch are removed 29 days after its creation.
    expect(batch.results_url).toBeNull()
  }
})

/** The number of attempts of each delivery, ascending. */
function attemptsOf(events: readonly RanEvent[]): number[] {
  const attempts = new Map<string, number>()
  for (const { ref, webhook } of events) if (webhook !== undefined) attempts.set(ref, webhook.attempt)
  return [...attempts.values()].sort((a, b) => a - b)
}
