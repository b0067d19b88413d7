import { expect, test } from 'vitest'
import { KeptResponse, MAX_KEPT_BYTES, MAX_KEPT_IN_ALL } from '../../src/core/log/kept-response.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'

async function explained(emulator: TestEmulator, response: TestResponse) {
  const id = response.headers.get('x-emulator-request-id')
  return (await emulator.control('GET', `/explain/${id}`)).body
}

test('an explanation has the response that the client received, and the list of requests with full=true', async () => {
  const emulator = await testEmulator()
  const reply = await emulator.post('/pages', { name: 'Roof plan' })
  const { body: plain } = await emulator.control('GET', '/requests')
  expect(plain.data[0]).not.toHaveProperty('response')
  const { body: full } = await emulator.control('GET', '/requests?full=true')
  const { response } = await explained(emulator, reply)
  expect(full.data[0]).toMatchObject({ request: { body: { name: 'Roof plan' } }, response })
  expect(response).toMatchObject({ status: 200, body: reply.text, body_kept: true })
  expect(response.body_bytes).toBe(Buffer.byteLength(reply.text))
  for (const { name, value } of response.headers)
    expect([name, reply.headers.get(name)]).toEqual([name, value])
  expect(response.headers.map(({ name }: { name: string }) => name)).toContain('X-RateLimit-Remaining')
})

test('the lines of a stream are kept up to the limit', async () => {
  const emulator = await batchEmulator()
  const { body: batch } = await emulator.post('/batch-predictions', aBatch({ items: 200 }))
  await emulator.control('POST', `/batches/${batch.id}/complete`)
  const results = await emulator.get(`/batch-predictions/${batch.id}/results`)
  const { response } = await explained(emulator, results)
  expect(response.body_bytes).toBe(Buffer.byteLength(results.text))
  expect(response.body_bytes).toBeGreaterThan(MAX_KEPT_BYTES)
  expect(response).toMatchObject({ status: 200, body_kept: false })
  expect(results.text.startsWith(response.body)).toBe(true)
  expect(Buffer.byteLength(response.body)).toBe(MAX_KEPT_BYTES)
})

test('the kept response is the one that a fault has changed, and a request that is cut before has none', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/faults', { preset: 'html-error-page' })
  const reply = await emulator.get('/data-views')
  expect((await explained(emulator, reply)).response).toMatchObject({ status: 502, body: reply.text })
  expect(reply.text).toContain('<html')
  await emulator.control('DELETE', '/faults')
  await emulator.control('POST', '/faults', { preset: 'offline' })
  await emulator.get('/data-views').catch(() => undefined)
  const { body } = await emulator.control('GET', '/requests?full=true')
  expect(body.data[1]).toMatchObject({ status: 0, response: null })
})

test('secrets of a request are redacted in its response', { tags: ['R231'] }, async () => {
  const emulator = await testEmulator()
  const body = { agent: { claim_token: 'top-secret', id: 'a' } }
  const rule = { match: { operation: 'agents.claim' }, do: [{ respond: { status: 200, body } }] }
  await emulator.control('POST', '/faults', rule)
  const reply = await emulator.post('/agents/claim', { claim_token: 'top-secret' })
  expect(reply.text).toContain('top-secret')
  const { response } = await explained(emulator, reply)
  expect(JSON.parse(response.body)).toEqual({ agent: { claim_token: '(redacted)', id: 'a' } })
  expect((await emulator.control('GET', '/requests?full=true')).text).not.toContain('top-secret')
})

test('all kept bodies of a process together are bounded, and the oldest are dropped first', async () => {
  const emulator = await testEmulator()
  const first = await emulator.post('/pages', { name: 'Roof plan' })
  for (let n = 0; n < MAX_KEPT_IN_ALL / MAX_KEPT_BYTES; n++)
    new KeptResponse(200, []).write('x'.repeat(MAX_KEPT_BYTES))
  const { response } = await explained(emulator, first)
  expect(response).toMatchObject({ status: 200, body: null, body_kept: false })
  expect(response.body_bytes).toBe(Buffer.byteLength(first.text))
  const last = await emulator.post('/pages', { name: 'Roof plan' })
  expect((await explained(emulator, last)).response.body).toBe(last.text)
})
