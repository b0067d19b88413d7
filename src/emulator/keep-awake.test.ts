import { expect, onTestFinished, test, vi } from 'vitest'
import { clockwork, event, ran, START } from '../../test/support/clockwork.ts'
import { Refusal } from '../core/errors.ts'
import { change } from '../core/sandboxes/change.ts'
import { advance } from '../core/time/advance.ts'
import { repeatEvery } from '../core/time/realtime.ts'
import { lagOf, runDueEvents } from '../core/time/run-events.ts'
import { keepAwake } from './keep-awake.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Resolves when the condition is true. It is checked once per turn of the event loop. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn()
}

test('an event that schedules itself endlessly at one instant is reported once, and requests are still served', async () => {
  let host = START
  const defects: unknown[] = []
  const sandbox = await clockwork({ rate: 1, host: () => host, defects, mostEvents: 2_000 })
  change(sandbox, ({ schedule }) => {
    schedule(event('stuck', 'r/1', START + 1_000))
    schedule(event('tick', 'r/2', START + 2_000))
  })
  onTestFinished(keepAwake(sandbox))
  host += 60_000
  runDueEvents(sandbox)
  await until(() => defects.length > 0)
  expect(defects[0]).toBeInstanceOf(Refusal)
  expect(String(defects[0])).toContain('Most frequent of the last 1000: stuck r/1 (1000 times)')
  // Requests are served, but the clock stays at the instant of the stuck event.
  expect(runDueEvents(sandbox)).toMatchObject({ ran: 0, reached: false })
  expect(lagOf(sandbox)).toBe(59_000)
  change(sandbox, ({ unschedule }) => unschedule('r/1', ['stuck']))
  await until(() => ran(sandbox).length === 1)
  expect(defects).toHaveLength(1)
})

test('during an advance only the advance runs events; afterwards due events run again', async () => {
  let host = START
  const sandbox = await clockwork({ rate: 1, host: () => host })
  change(sandbox, ({ schedule }) => {
    for (const n of [1, 2, 3]) schedule(event('tick', `r/${n}`, START + n * 1_000))
  })
  onTestFinished(keepAwake(sandbox))
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const outbox = { isIdle: false, isRequesting: false, whenIdle: () => released }
  sandbox.deliveries.add(outbox)
  const passage = advance(sandbox, { to: (now) => now + 1_000 })
  host += 2_500
  // Each commit plans the next wake-up, in this case immediately.
  sandbox.store.transaction(sandbox.document().clock.now, (tx) => tx.put('others', { id: 'any' }))
  for (let n = 0; n < 50; n++) await turn()
  expect(ran(sandbox)).toEqual([])
  outbox.isIdle = true
  release()
  expect((await passage).events.map(({ ref }) => ref)).toEqual(['r/1'])
  host += 2_000
  expect(runDueEvents(sandbox)).toMatchObject({ ran: 2, reached: true })
})

test('a call every millisecond continues while a test fakes the timers, until it is cancelled', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const cancel = await new Promise<() => void>((done) => {
    let calls = 0
    const stop = repeatEvery(1, () => {
      calls += 1
      if (calls === 3) done(stop)
    })
  })
  cancel()
})
