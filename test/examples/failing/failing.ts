import { test } from 'agent-workspace-emulator/vitest'
import { describe, expect } from 'vitest'

// An example of failures: `npx vitest run --config test/examples/failing/vitest.config.ts`. Most of these tests fail on
// purpose; src/testing/report.test.ts runs them and checks Vitest's output.

let last: string | undefined

test('fails on a refusal', async ({ sandbox }) => {
  last = sandbox.name
  await sandbox.faults.preset('rate-limited', { times: 1 })
  await sandbox.faults.arm({
    id: 'unmet',
    match: { operation: 'agents.list' },
    do: [{ respond: { status: 500 } }],
  })
  const refused = await sandbox.fetch('/data-views')
  await sandbox.fetch('/pages', { json: { name: 'Roof plan' } })
  expect(refused.status).toBe(200)
})

test('finds no sandbox of a test before it', async ({ emulator }) => {
  const sandboxes = await emulator.sandboxes.list()
  expect(sandboxes.map(({ name }) => name)).toEqual(['default'])
  expect(last).not.toBe('default')
})

describe('with failOnUnfiredFaults', () => {
  test.override({ failOnUnfiredFaults: true })

  test('fails on a fault that never fired', async ({ sandbox }) => {
    await sandbox.faults.preset('server-error', { match: { operation: 'agents.list' } })
    await sandbox.fetch('/data-views')
  })

  test('passes, since its fault has fired', async ({ sandbox }) => {
    await sandbox.faults.preset('server-error')
    await sandbox.fetch('/data-views')
  })
})

describe('with recordFailures', () => {
  test.override({ recordFailures: process.env.RECORDINGS })

  for (const path of ['/data-views', '/nowhere'])
    test('fails and is recorded', { retry: 1 }, async ({ sandbox }) => {
      expect((await sandbox.fetch(path)).status).toBe(500)
    })
})

test('fails without a request', async ({ sandbox }) => {
  await expect(sandbox).toHaveReceived({ operation: 'pages.create' })
})

test('is given up', { timeout: 1_000 }, async ({ sandbox }) => {
  await sandbox.requests.wait({ operation: 'pages.create' }, { timeoutMs: 30_000 })
})

test('asks for no sandbox, and fails', () => {
  expect(1).toBe(2)
})

test('fails once and then passes', { retry: 1 }, async ({ sandbox, task }) => {
  await sandbox.fetch('/data-views')
  expect(task.result?.retryCount).toBe(1)
})

describe.concurrent('side by side', () => {
  test.for(['a', 'b', 'c'])('%s is told about alone', async (name, { sandbox, expect }) => {
    await sandbox.fetch('/pages', { json: { name: `Plan ${name}` } })
    await expect(sandbox).toHaveReceived({ body: { '/name': { equals: `Plan ${name}` } } }, 1)
    if (name === 'b') expect.soft(name).toBe('a')
  })
})
