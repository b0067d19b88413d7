import { aBatch, aPage, startEmulator } from 'agent-workspace-emulator'
import { expect, onTestFinished, test } from 'vitest'
import { reportOn } from '../../src/testing/report.ts'

const NOTE =
  "The clock is frozen. 2 events are pending, the next in 2s. Call clock.advance('2s'), set rate: 1 or use skip_on_poll."

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

test('after a poll under a frozen clock, the clock, the explanation and the report all contain a note', async () => {
  const { sandbox, id, status } = await polled()
  expect(status).toBe('validating')
  expect((await sandbox.clock.show()).frozen).toBe(NOTE)
  expect((await sandbox.requests.explain(id)).summary).toContain(NOTE)
  expect((await reportOn(sandbox)).split('\n')).toContain(`  ${NOTE}`)
})

test('there is no note for a finished batch, although the expiry of its results is pending', async () => {
  const { sandbox, batch, id } = await polled()
  await sandbox.clock.advance({ until: { batch: batch.id } })
  expect((await sandbox.clock.show()).next).not.toBeNull()
  expect((await sandbox.clock.show()).frozen).toBeNull()
  expect((await sandbox.requests.explain(id)).summary).not.toContain('frozen')
  expect(await reportOn(sandbox)).not.toContain('frozen')
})

test.for([{ rate: 1 }, { skipOnPoll: true }])('with %j there is no note', async (options) => {
  const { sandbox } = await polled(options)
  expect((await sandbox.clock.show()).frozen).toBeNull()
})

test('the report explains a 429 under a frozen clock and its fix', async () => {
  const { sandbox } = await polled()
  await sandbox.limits.fill('pages.create', { remaining: 0 })
  expect((await sandbox.fetch('/pages', { json: aPage() })).status).toBe(429)
  expect(await reportOn(sandbox)).toMatch(
    /\n {6}It was refused with 429 .*\n {6}The virtual clock is frozen, so waiting does not help: advance it with /,
  )
})
