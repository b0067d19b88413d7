import { expect, test } from 'vitest'
import { clockwork, event, START } from '../../../test/support/clockwork.ts'
import { change } from '../sandboxes/change.ts'
import { advance } from './advance.ts'

test('moved events do not fill the queue, and the order stays that of due and seq', async () => {
  const sandbox = await clockwork()
  for (let round = 100; round > 0; round--) {
    change(sandbox, ({ schedule }) => {
      for (let n = 0; n < 50; n++) schedule(event('tick', `r/${n}`, START + round * 1_000 + (n % 7)))
    })
  }
  expect(sandbox.scheduler.length).toBeLessThan(1_200)
  const { events } = await advance(sandbox, { to: () => START + 2_000 })
  const order = Array.from({ length: 50 }, (_, n) => n).sort((a, b) => (a % 7) - (b % 7) || a - b)
  expect(events.map(({ ref }) => ref)).toEqual(order.map((n) => `r/${n}`))
})

test('a moved event runs only at its new instant, earlier or later, and a cancelled one does not run', async () => {
  const sandbox = await clockwork()
  change(sandbox, ({ schedule }) => {
    for (const [n, ref] of ['r/a', 'r/b', 'r/c', 'r/d'].entries())
      schedule(event('tick', ref, START + 1_000 * (n + 1)))
  })
  change(sandbox, ({ schedule }) => schedule(event('tick', 'r/a', START + 9_000)))
  change(sandbox, ({ schedule }) => schedule(event('tick', 'r/d', START + 500)))
  change(sandbox, ({ unschedule }) => unschedule('r/b', ['chain', 'tick']))
  const order = Object.entries({ 'r/d': START + 500, 'r/c': START + 3_000, 'r/a': START + 9_000 })
  expect(sandbox.scheduler.horizon().map(({ ref, due_at }) => [ref, Date.parse(due_at)])).toEqual(order)
  expect(sandbox.scheduler.peek()?.ref).toBe('r/d')
  const { events } = await advance(sandbox, { to: () => START + 60_000 })
  expect(events.map(({ ref, at }) => [ref, Date.parse(at)])).toEqual(order)
  expect([sandbox.scheduler.peek(), sandbox.scheduler.horizon()]).toEqual([undefined, []])
})

test('an event that is scheduled again for the same instant runs after the others of that instant', async () => {
  const sandbox = await clockwork()
  for (const ref of ['r/a', 'r/b', 'r/a'])
    change(sandbox, ({ schedule }) => schedule(event('tick', ref, START + 1_000)))
  expect(sandbox.scheduler.horizon().map(({ ref }) => ref)).toEqual(['r/b', 'r/a'])
  const { events } = await advance(sandbox, { steps: 2 })
  expect(events.map(({ ref }) => ref)).toEqual(['r/b', 'r/a'])
})

test('a record can have a future event of each kind, and unscheduling removes only the named kinds', async () => {
  const sandbox = await clockwork()
  const kinds = () => sandbox.scheduler.horizon().map(({ id, kind }) => [id, kind])
  change(sandbox, ({ schedule }) => {
    for (const kind of ['tick', 'chain', 'broken']) schedule(event(kind, 'r/a', START + 1_000))
  })
  expect(kinds().map(([id]) => id)).toEqual(['tick:r/a', 'chain:r/a', 'broken:r/a'])
  const before = sandbox.store.revision
  change(sandbox, ({ unschedule }) => unschedule('r/a', ['tick', 'broken', 'stuck']))
  change(sandbox, ({ unschedule }) => unschedule('r/b', ['chain']))
  expect(kinds()).toEqual([['chain:r/a', 'chain']])
  expect(sandbox.store.revision).toBe(before + 1)
})

test('the waits of responses run in the order of their instants, among the events', async () => {
  const sandbox = await clockwork()
  const { scheduler } = sandbox
  for (const seconds of [5, 3, 1]) scheduler.wakeAt(START + seconds * 1_000, String(seconds), () => {})
  for (const seconds of [4, 2])
    change(sandbox, ({ schedule }) => schedule(event('tick', `r/${seconds}`, START + seconds * 1_000)))
  expect(scheduler.peek()?.ref).toBe('requests/1')
  const { events } = await advance(sandbox, { to: () => START + 60_000 })
  expect(events.map(({ ref }) => ref)).toEqual(['requests/1', 'r/2', 'requests/3', 'r/4', 'requests/5'])
})
