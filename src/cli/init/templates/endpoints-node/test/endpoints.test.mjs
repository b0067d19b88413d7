import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startEmulator } from 'agent-workspace-emulator'

/** @type {import('agent-workspace-emulator').Emulator} */
let emulator

before(async () => {
  emulator = await startEmulator({
    port: 0,
    ephemeral: true,
    rate: 0,
    fixtures: 'demo',
    endpoints: 'endpoints',
  })
})

after(() => emulator.close())

test('a question gets a streamed answer, and both can be read again', async (t) => {
  const sandbox = await emulator.sandbox()
  t.after(() => sandbox.delete())

  const asked = await sandbox.fetch('/converse', { json: { text: 'Where is the handbook?' } })
  const [, id] = /"conversation_id":"([^"]+)"/.exec(await asked.text())

  const read = await sandbox.fetch(`/conversations/${id}/messages`)
  const { data } = await read.json()
  assert.deepEqual(
    data.map(({ role }) => role),
    ['user', 'agent'],
  )
  assert.match(data[1].content[0].text, /handbook/)
})
