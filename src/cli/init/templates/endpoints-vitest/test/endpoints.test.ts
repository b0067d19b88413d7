import { expect, test } from 'agent-workspace-emulator/vitest'

test('a question gets a streamed answer, and both can be read again', async ({ sandbox }) => {
  const asked = await sandbox.fetch('/converse', { json: { text: 'Where is the handbook?' } })
  expect(asked.headers.get('content-type')).toContain('text/event-stream')
  const events = await asked.text()
  const [, id] = /"conversation_id":"([^"]+)"/.exec(events) ?? []

  const read = await sandbox.fetch(`/conversations/${id}/messages`)
  const { data } = (await read.json()) as { data: { role: string; content: { text: string }[] }[] }
  expect(data.map(({ role }) => role)).toEqual(['user', 'agent'])
  expect(data[1]?.content[0]?.text).toContain('handbook')
})

test('an answer that breaks off in the stream can be read', async ({ sandbox }) => {
  await sandbox.faults.preset('cut-mid-body', { match: { operation: 'converse.create' } })
  const asked = await sandbox.fetch('/converse', { json: { text: 'Where is the handbook?' } })
  await expect(asked.text()).rejects.toThrow()

  const listed = await sandbox.fetch('/conversations?has_messages=true')
  const { data } = (await listed.json()) as { data: { id: string; name: string }[] }
  expect(data.map(({ name }) => name)).toContain('Where is the handbook?')
})
