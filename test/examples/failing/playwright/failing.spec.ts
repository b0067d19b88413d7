import { expect, test } from 'agent-workspace-emulator/playwright'

// What a failure looks like: `npx playwright test -c test/examples/failing/playwright`. It needs no browser, since no test asks for
// a page. src/doors/testing/playwright.test.ts runs it and reads what Playwright prints.

test.use({ emulatorOptions: { seed: 3 }, worldOptions: { settings: { 'success.create': 201 } } })

test('fails on a refusal', async ({ world }) => {
  await world.faults.preset('rate-limited')
  await world.fetch('/data-views')
  await expect(world).toHaveReceived({ operation: 'pages.create' })
})

test('passes as its options say', async ({ world, emulator }) => {
  const answer = await world.fetch('/pages', { json: { name: 'Roof plan' } })
  expect(answer.status).toBe(201)
  expect((await emulator.sandboxes.show(world.name)).seed).toBe(3)
  const { data } = await emulator.sandboxes.list()
  expect(data.map(({ name }) => name).sort()).toEqual(['default', world.name].sort())
  await expect(world).toHaveReceived({ operation: 'pages.create' }, 1)
  await expect(world).not.toHaveDelivered()
})
