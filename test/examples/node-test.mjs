// Node's own test runner with the installed package: one emulator for the file, a new sandbox for each test.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aBatch, aPage, startEmulator } from 'agent-workspace-emulator'

/** @type {import('agent-workspace-emulator').Emulator} */
let emulator

before(async () => {
  emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
})

after(() => emulator.close())

test('a batch runs until it is completed', async (t) => {
  const sandbox = await emulator.sandbox()
  t.after(() => sandbox.delete())

  const created = await sandbox.fetch('/batch-predictions', { json: aBatch({ items: 2 }) })
  const { id } = await created.json()
  await sandbox.clock.advance({ until: { batch: id } })

  const results = await sandbox.fetch(`/batch-predictions/${id}/results`)
  const lines = (await results.text()).trim().split('\n').map(JSON.parse)
  assert.deepEqual(
    lines.map(({ custom_id, status }) => [custom_id, status]),
    [
      ['item-1', 'succeeded'],
      ['item-2', 'succeeded'],
    ],
  )

  const { findings } = await sandbox.conduct()
  assert.deepEqual(
    findings.filter(({ severity }) => severity !== 'note'),
    [],
  )
})

test('a refused page can be explained', async (t) => {
  const sandbox = await emulator.sandbox()
  t.after(() => sandbox.delete())
  await sandbox.faults.preset('rate-limited')

  const refused = await sandbox.fetch('/pages', { json: aPage() })
  assert.equal(refused.status, 429)

  const { summary } = await sandbox.requests.explain(refused.headers.get('x-emulator-request-id'))
  assert.match(summary, /refused with 429 rate_limit_exceeded/)
})
