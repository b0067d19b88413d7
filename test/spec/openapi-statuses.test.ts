import { expect, test } from 'vitest'
import { aBatch, batchEmulator, createBatch } from '../support/batches.ts'
import type { TestEmulator, TestResponse } from '../support/emulator.ts'
import { CONTRACT, MESSAGE, sampleCalls, sampleRecords } from '../support/sample-calls.ts'

/** The statuses in the specification of an operation, and those that follow from its text. */
const DOCUMENTED: Readonly<Record<string, readonly number[]>> = {
  'messages.feedback': [204, 400, 404],
  'agents.claim': [404],
  'conversations.delete': [400],
  'mcp-servers.oauth-callback': [403],
  'skills.promote': [403],
  'batch-predictions.create': [400, 409],
  'batch-predictions.retrieve': [401, 404],
  'batch-predictions.results': [401, 404, 409, 410],
  'batch-predictions.cancel': [401, 404, 409],
}

const LIMITED = [...CONTRACT, 'conversations.delete']

type Responses = Readonly<Record<string, unknown>>

async function responsesOf(emulator: TestEmulator): Promise<ReadonlyMap<string, Responses>> {
  const { body } = await emulator.control('GET', '/openapi.json?api=workspace')
  const items: Record<string, { operationId: string; responses: Responses }>[] = Object.values(body.paths)
  const operations = items.flatMap((item) => Object.values(item))
  return new Map(operations.map(({ operationId, responses }) => [operationId, responses]))
}

test('the OpenAPI document has every documented status of every operation', {
  tags: ['R216', 'R221'],
}, async () => {
  const documented = await responsesOf(await batchEmulator())
  for (const name of LIMITED) {
    const statuses = Object.keys(documented.get(name) ?? {})
    expect(statuses, name).toEqual(expect.arrayContaining([429, ...(DOCUMENTED[name] ?? [])].map(String)))
  }
})

const { files: _, ...records } = sampleRecords

test('every status that an operation responds with is in the document', async () => {
  const emulator = await batchEmulator({}, { collections: records })
  const documented = await responsesOf(emulator)
  for (const call of await sampleCalls(emulator)) await emulator.request(call.method, call.path, call.options)
  await refusals(emulator)
  for (const { operation = '', status } of emulator.sandbox.log.entries()) {
    const known = documented.get(operation)
    if (known !== undefined) expect(Object.keys(known), operation).toContain(String(status))
  }
})

/** One request for each refusal by an operation itself. */
async function refusals(emulator: TestEmulator): Promise<TestResponse[]> {
  const { id } = await createBatch(emulator)
  const early = await emulator.get(`/batch-predictions/${id}/results`)
  emulator.advance('1h')
  const late = await emulator.post(`/batch-predictions/${id}/cancel`)
  emulator.advance('30d')
  const gone = await emulator.get(`/batch-predictions/${id}/results`)
  const key = { headers: { 'idempotency-key': 'k' } }
  await emulator.post('/batch-predictions', aBatch(), key)
  const found = [
    early,
    late,
    gone,
    await emulator.post('/batch-predictions', aBatch({ prompt: 'other' }), key),
    await emulator.post('/agents/claim', { claim_token: 'none' }),
    await emulator.post('/conversations/conversation-1/messages/no-uuid', { like: 1 }),
    await emulator.post(`/conversations/conversation-1/messages/${MESSAGE}-user`, { like: 1 }),
    await emulator.post('/skills/skill-1/promote', undefined, { key: 'KM' }),
    await emulator.get('/data-views', { key: 'none' }),
  ]
  expect(found.map(({ status }) => status)).toEqual([409, 409, 410, 409, 404, 400, 400, 403, 401])
  return found
}
