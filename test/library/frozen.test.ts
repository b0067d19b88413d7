import { aBatch, aPage, startEmulator } from 'agent-workspace-emulator'
import { expect, onTestFinished, test } from 'vitest'
import { reportOn } from '../../src/adapters/testing/report.ts'

const NOTE =
  "The clock is frozen. 2 events are pending, the next in 2s. Call clock.advance('2s'), set rate: 1 or use skip_on_poll."

/** A sandbox with a batch that was just created, and one poll of it. */
async function polled(options: Parameters<typeof startEmulator>[0] = {}) {
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, ...options })
  onTestFinished(() => emulator.close())
  const sandbox = await emulator.sandbox()
  const created = await sandbox.fetch('/batch-predictions', { json: aBatch() })
  const batch = (await created.json()) as { id: string }
  const poll = await sandbox.fetch(`/batch-predictions/${batch.id}`)
  const id = poll.headers.get('x-emulator-request-id') ?? ''
  return { sandbox, batch, id, status: ((await poll.json()) as { status: string }).status }
}

test('a client that polls while the clock is frozen is told so by clock, explanation and report', async () => {
  const { sandbox, id, status } = await polled()
  expect(status).toBe('validating')
  expect((await sandbox.clock.show()).frozen).toBe(NOTE)
  expect((await sandbox.requests.explain(id)).summary).toContain(NOTE)
  expect((await reportOn(sandbox)).split('\n')).toContain(`  ${NOTE}`)
})

test('nothing is said of a batch that is done, although its results have a last day', async () => {
  const { sandbox, batch, id } = await polled()
  await sandbox.clock.advance({ until: { batch: batch.id } })
  expect((await sandbox.clock.show()).next).not.toBeNull()
  expect((await sandbox.clock.show()).frozen).toBeNull()
  expect((await sandbox.requests.explain(id)).summary).not.toContain('frozen')
  expect(await reportOn(sandbox)).not.toContain('frozen')
})

test.for([{ rate: 1 }, { skipOnPoll: true }])('with %j nothing is said', async (options) => {
  const { sandbox } = await polled(options)
  expect((await sandbox.clock.show()).frozen).toBeNull()
})

test('a report keeps the way out of a 429 under a frozen clock', async () => {
  const { sandbox } = await polled()
  await sandbox.limits.fill('pages.create', { remaining: 0 })
  expect((await sandbox.fetch('/pages', { json: aPage() })).status).toBe(429)
  expect(await reportOn(sandbox)).toMatch(
    /\n {6}It was refused with 429 .*\n {6}The virtual clock stands still, so waiting does not help: advance it with /,
  )
})
