import { expect, test } from 'vitest'
import { bothWays, createBatch } from './both-ways.ts'

const START = '2026-03-01T12:00:00.000Z'
const { ways } = bothWays({ clock: START })

test.for(ways)('%s: a signal aborts an advance, and the call rejects with its reason', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const gone = new AbortController()
  const passage = sandbox.clock.advance('3650d', { signal: gone.signal })
  setImmediate(() => gone.abort(new Error('enough')))
  await expect(passage).rejects.toThrow('enough')
})

test.for(ways)('%s: an advance to a goal stops at max_to, if not at the goal', async ([, client]) => {
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
})

test.for(ways)('%s: the clock shows how many connections a fault holds open', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const cut = { at: 'before-head', how: 'pause' } as const
  const fault = await sandbox.faults.arm({ match: 'everything', do: [{ cut }] })
  expect((await sandbox.clock.show()).held).toBe(0)
  const answer = sandbox.fetch('/data-views').catch(() => 'cut')
  await expect.poll(async () => (await sandbox.clock.show()).held).toBe(1)
  await fault.remove()
  expect(await answer).toBe('cut')
  await expect.poll(async () => (await sandbox.clock.show()).held).toBe(0)
})
