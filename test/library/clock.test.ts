import { expect, test } from 'vitest'
import { bothWays, createBatch } from './both-ways.ts'

const START = '2026-03-01T12:00:00.000Z'
const { ways } = bothWays({ clock: START })

test.for(ways)('%s: the clock is shown, advanced by each kind of target, and set', async ([, client]) => {
  await using sandbox = await client().sandbox()
  expect(await sandbox.clock.show()).toMatchObject({ now: START, rate: 0, skip_on_poll: false, lag_ms: 0 })
  expect(await sandbox.clock.advance('90s')).toMatchObject({ from: START, to: '2026-03-01T12:01:30.000Z' })
  expect(await sandbox.clock.advance({ by: '30s' })).toMatchObject({ to: '2026-03-01T12:02:00.000Z' })
  expect(await sandbox.clock.advance({ to: '2026-03-01T13:00:00.000Z' })).toMatchObject({
    to: '2026-03-01T13:00:00.000Z',
  })
  expect((await sandbox.clock.advance({ steps: 1 })).events).toHaveLength(1)
  expect(await sandbox.clock.set({ rate: 60, skip_on_poll: true })).toMatchObject({
    rate: 60,
    skip_on_poll: true,
  })
})

test.for(ways)('%s: an advance reaches its target unless max_events stops it earlier', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await createBatch(sandbox)
  const some = await sandbox.clock.advance({ by: '24h', max_events: 1 })
  expect([some.stopped, some.events.length, some.omitted]).toEqual(['limit', 1, undefined])
  const rest = await sandbox.clock.advance({ to: '2026-03-02T12:00:00.000Z' })
  expect([rest.stopped, rest.from, rest.to]).toEqual([undefined, some.to, '2026-03-02T12:00:00.000Z'])
  await expect(sandbox.clock.advance('1h', { signals: [] } as object)).rejects.toThrow(
    'clock.advance() has no option "signals"',
  )
})

test.for(ways)('%s: a signal aborts an advance, and the call rejects with its reason', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const gone = new AbortController()
  const passage = sandbox.clock.advance('3650d', { signal: gone.signal })
  setImmediate(() => gone.abort(new Error('enough')))
  await expect(passage).rejects.toThrow('enough')
})

test.for(ways)(
  '%s: an advance runs until a batch is done, and the result lists its events',
  async ([, client]) => {
    await using sandbox = await client().sandbox()
    const batch = await createBatch(sandbox)
    const data = await sandbox.clock.horizon()
    expect(data.map(({ ref }) => ref)).toContain(`batch_predictions/${batch}`)
    const { events, failed } = await sandbox.clock.advance({ until: { batch } })
    const moves = events.filter(({ ref }) => ref.endsWith(batch)).map(({ from, to }) => `${from} ${to}`)
    expect(moves).toEqual(['validating in_progress', 'in_progress finalizing', 'finalizing completed'])
    expect(failed).toEqual([])
  },
)

test.for(ways)('%s: a batch can be shown, held, changed and ended in each way', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const { batches } = sandbox
  const held = await createBatch(sandbox)
  expect(await batches.show(held)).toMatchObject({ batch: { id: held, status: 'validating' }, ended: null })
  const changed = await batches.change(held, {
    hold: true,
    pace: { in_progress: { per_item: '1h', concurrency: 2 } },
    outcomes: [{ match: { custom_id: 'item-*' }, status: 'errored', detail: 'unreadable' }],
  })
  expect(changed).toMatchObject({ progress: { held: true }, plan: { pace: { validating: '2s' } } })
  await batches.change(held, { hold: false })
  expect((await batches.complete(held)).batch).toMatchObject({
    status: 'completed',
    request_counts: { errored: 3, succeeded: 0 },
  })
  expect((await batches.cleanup(held)).batch.results_url).toBeNull()
  const failed = await createBatch(sandbox)
  expect((await batches.fail(failed, { detail: 'Out of ink.' })).ended).toEqual({
    rest: 'errored',
    cause: 'Out of ink.',
  })
  expect((await batches.fail(await createBatch(sandbox))).batch.status).toBe('failed')
  expect((await batches.expire(await createBatch(sandbox))).batch.status).toBe('expired')
})

test.for(ways)(
  '%s: an advance to a goal stops at max_to, unless the goal is reached by then',
  async ([, client]) => {
    await using sandbox = await client().sandbox()
    const batch = await createBatch(sandbox)
    const [max_to, later] = ['2026-03-01T12:00:02.000Z', '2026-03-01T13:00:00.000Z']
    const some = await sandbox.clock.advance({ until: { batch }, max_to })
    expect([some.stopped, some.to, some.events.length]).toEqual(['limit', max_to, 1])
    const rest = await sandbox.clock.advance({ until: { batch }, max_to: later })
    expect([rest.stopped, rest.events.at(-1)?.to]).toEqual([undefined, 'completed'])
    const same = await sandbox.clock.advance({ until: { batch }, max_to: rest.to })
    expect([same.stopped, same.to]).toEqual([undefined, rest.to])
    await expect(sandbox.clock.advance({ by: '1h', max_to: later })).rejects.toThrow(
      'may have max_to only with until: the other targets say themselves where they end',
    )
  },
)

test.for(ways)('%s: the clock shows how many connections a fault holds open', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const fault = await sandbox.faults.arm({
    match: 'everything',
    do: [{ cut: { at: 'before-head', how: 'pause' } }],
  })
  expect((await sandbox.clock.show()).held).toBe(0)
  const answer = sandbox.fetch('/data-views').catch(() => 'cut')
  await expect.poll(async () => (await sandbox.clock.show()).held).toBe(1)
  await fault.remove()
  expect(await answer).toBe('cut')
  await expect.poll(async () => (await sandbox.clock.show()).held).toBe(0)
})
