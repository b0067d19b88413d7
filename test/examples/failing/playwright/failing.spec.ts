import { expect, test } from 'agent-workspace-emulator/playwright'

// An example of a failure: `npx playwright test -c test/examples/failing/playwright`. The tests of this
// file need no browser. src/playwright.slow.test.ts runs it and checks Playwright's output.

test.use({
  emulatorOptions: { seed: 3 },
  sandboxOptions: { settings: { 'success.create': 201 } },
  recordFailures: process.env.RECORDINGS,
})

test('fails on a refusal', async ({ sandbox }) => {
  await sandbox.faults.preset('rate-limited')
  await sandbox.faults.preset('lost-response-after-commit')
  await sandbox.fetch('/data-views')
  await expect(sandbox).toHaveReceived({ operation: 'pages.create' })
})

test('passes as its options say', async ({ sandbox, emulator }) => {
  const response = await sandbox.fetch('/pages', { json: { name: 'Roof plan' } })
  expect(response.status).toBe(201)
  expect((await emulator.sandboxes.show(sandbox.name)).seed).toBe(3)
  const sandboxes = await emulator.sandboxes.list()
  expect(sandboxes.map(({ name }) => name).sort()).toEqual(['default', sandbox.name].sort())
  await expect(sandbox).toHaveReceived({ operation: 'pages.create' }, 1)
  await expect(sandbox).not.toHaveDelivered()
})
