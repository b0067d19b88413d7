// Each test has a service of its own, `sandbox`, whose time stands still until the test advances it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startEmulator } from 'agent-workspace-emulator'

/** @type {import('agent-workspace-emulator').Emulator} */
let emulator

before(async () => {
  emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, fixtures: 'fixtures/workspace.json' })
})

after(() => emulator.close())

test('the contract is read although the scan is not', async (t) => {
  const sandbox = await emulator.sandbox(undefined, { scenario: 'unreadable-scan' })
  t.after(() => sandbox.delete())

  // Call your own client here, with sandbox.baseUrl and sandbox.apiKey; sandbox.fetch is in its place.
  const created = await sandbox.fetch('/batch-predictions', {
    json: {
      prompt: 'Who signed?',
      output_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      model: 'any-model',
      items: [
        { file_id: 'file-contract', custom_id: 'contract' },
        { file_id: 'file-scan', custom_id: 'scan' },
      ],
    },
  })
  const { id } = await created.json()

  await sandbox.clock.advance('24h')

  const results = await sandbox.fetch(`/batch-predictions/${id}/results`)
  const lines = (await results.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ custom_id, status }) => [custom_id, status]),
    [
      ['contract', 'succeeded'],
      ['scan', 'errored'],
    ],
  )
})
