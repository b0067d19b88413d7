import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AdvanceResult } from '../../src/core/time/scheduler.ts'
import { aBatch, batchEmulator, cancel, createBatch, intervene } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { type Received, type WebhookReceiver, webhookReceiver } from '../support/webhook-receiver.ts'

const HOUR = 3_600_000
/** In milliseconds: after the completion window, every retry and the first removal of results. */
const END = 31 * 24 * HOUR

/** A receiver whose responses depend only on the delivery and the attempt: the last digit of the id mod 4 gives its failures. */
function moody() {
  return ({ headers }: { headers: Readonly<Record<string, string | string[] | undefined>> }) => {
    const failures = Number.parseInt(String(headers['x-emulator-delivery']).slice(-1), 16) % 4
    return Number(headers['x-emulator-delivery-attempt']) > failures ? 204 : 503
  }
}

interface BusyEmulator {
  /** Replaced by another emulator after a move. */
  emulator: TestEmulator
  /** The webhooks that have arrived, except those from time that a restore has undone. */
  readonly arrived: Received[]
}

/** Batches that end in every way, automations, and webhooks of which many are refused at first. */
async function busyEmulator({ url }: WebhookReceiver): Promise<BusyEmulator> {
  const emulator = await batchEmulator(
    // All emulators of the test share one origin, because stored deliveries contain it.
    {
      'webhooks.retry': ['45s', '0s', '3h'],
      'errors.type_base': 'http://127.0.0.1:4010/__emulator/problems',
    },
    {
      collections: {
        webhooks: [{ id: 'hook', url, created_at: '2026-01-01T00:00:00.000Z' }],
        agents: [{ id: 'agent-a', name: 'Clerk', _emulator: { teamspace_id: 'ts-a' } }],
        automations: [
          { id: 'nightly', _emulator: { agent_id: 'agent-a', schedule: '30 2 * * *' } },
          { id: 'noon', _emulator: { agent_id: 'agent-a', schedule: '0 12 * * *' } },
        ],
      },
    },
  )
  const ids: string[] = []
  for (let n = 0; n < 6; n++) ids.push((await createBatch(emulator, { items: 1 + 7 * n })).id)
  const [cancelled = '', held = '', failing = ''] = ids
  await cancel(emulator, cancelled)
  intervene(emulator, 'change', held, { hold: true })
  intervene(emulator, 'fail', failing)
  // No delivery is in flight after this: a restore would send it again, which is allowed.
  await advance(emulator, { by: '0s' })
  return { emulator, arrived: [] }
}

/** All that must not depend on the steps of time. Each advance is a separate commit, so revisions differ. */
async function outcomeOf({ emulator, arrived }: BusyEmulator) {
  const names = ['x-emulator-delivery', 'x-emulator-delivery-attempt', 'x-emulator-event']
  const webhooks = arrived.map(({ headers, text }) => [...names.map((name) => headers[name]), text])
  const next = [
    await emulator.post('/pages', { name: 'Next' }),
    await emulator.post('/batch-predictions', aBatch()),
  ]
  const responses = next.map(({ headers, text }) => [headers.get('x-emulator-request-id'), text])
  return { digest: emulator.digest(), webhooks, responses: responses }
}

// Only the real milliseconds of a webhook may differ.
function told({ events, failed }: AdvanceResult) {
  return [...events, ...failed].map((event) => ({
    ...event,
    ...(event.webhook && { webhook: { ...event.webhook, ms: 0 } }),
  }))
}

async function advance(emulator: TestEmulator, step: object): Promise<AdvanceResult> {
  const { status, body } = await emulator.control('POST', '/clock/advance', step)
  expect(status).toBe(200)
  return body
}

type Cut = { readonly by: string } | { readonly steps: number } | 'restore' | 'move'

const cut = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 20_000 }).map((ms): Cut => ({ by: `${ms}ms` })) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 48 }).map((h): Cut => ({ by: `${h}h` })) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 9 }).map((steps): Cut => ({ steps })) },
  { weight: 2, arbitrary: fc.constantFrom<Cut>('restore', 'move') },
)

// Makes requests and advances time, then restores a snapshot: no trace of them may be left.
async function goAstray(emulator: TestEmulator): Promise<void> {
  await emulator.control('POST', '/snapshots', { name: 'here' })
  await emulator.post('/batch-predictions', aBatch())
  await emulator.control('PATCH', '/settings', { 'webhooks.retry': [] })
  await advance(emulator, { by: '30h' })
  expect((await emulator.control('POST', '/snapshots/here/restore')).status).toBe(200)
}

/** The same sandbox in another emulator, by an export and an import. */
async function move(emulator: TestEmulator): Promise<TestEmulator> {
  await emulator.control('POST', '/snapshots', { name: 'here' })
  const { body } = await emulator.control('GET', '/snapshots/here')
  const other = await batchEmulator()
  expect((await other.control('PUT', '/snapshots/there', body)).status).toBe(201)
  expect((await other.control('POST', '/snapshots/there/restore')).status).toBe(200)
  return other
}

/** Makes one cut in the time of a sandbox. @returns the events of the time that no restore has undone */
async function live(made: BusyEmulator, each: Cut, { received }: WebhookReceiver) {
  const before = received.length
  // Each request to a sandbox first runs the events that a step has left due. This advance runs them, so that it reports them.
  const result = await advance(made.emulator, typeof each === 'string' ? { by: '0s' } : each)
  made.arrived.push(...received.slice(before))
  if (each === 'move') made.emulator = await move(made.emulator)
  if (each === 'restore') await goAstray(made.emulator)
  return told(result)
}

test('steps of time, restores and moves change no result', { tags: ['R296'] }, async () => {
  const receiver = await webhookReceiver(moody())
  const whole = await busyEmulator(receiver)
  const start = whole.emulator.now()
  const happened = await live(whole, { by: `${END}ms` }, receiver)
  const wanted = await outcomeOf(whole)
  expect(wanted.webhooks.length).toBeGreaterThan(10)
  await fc.assert(
    fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 12 }), async (cuts) => {
      const made = await busyEmulator(receiver)
      const events: unknown[] = []
      for (const each of cuts) events.push(...(await live(made, each, receiver)))
      const rest = start + END - made.emulator.now()
      expect(rest).toBeGreaterThan(0)
      events.push(...(await live(made, { by: `${rest}ms` }, receiver)))
      expect(events).toEqual(happened)
      expect(await outcomeOf(made)).toEqual(wanted)
    }),
    { numRuns: 15 },
  )
})
