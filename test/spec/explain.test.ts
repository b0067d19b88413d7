import { expect, test } from 'vitest'
import type { RequestTrace } from '../../src/core/explain/trace.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { setSettings } from '../../src/core/sandboxes/change.ts'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import { applyPatch } from '../support/apply-patch.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { alive, dataFolder } from '../support/data-folder.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'
import { batchBody, sampleCalls, sampleRecords } from '../support/sample-calls.ts'
import { send } from '../support/send.ts'
import { mountPath } from '../support/transport.ts'

const explain = (emulator: TestEmulator, id: string, query = '') =>
  emulator.control('GET', `/explain/${id}${query}`)

const idOf = ({ headers }: TestResponse): string => headers.get('x-emulator-request-id') ?? ''

async function traceOf(emulator: TestEmulator, response: TestResponse): Promise<RequestTrace> {
  return (await explain(emulator, idOf(response))).body
}

test('the patches of every operation turn the records before it into the records after it', async () => {
  const emulator = await testEmulator({ collections: sampleRecords, limits: false })
  for (const { name, method, path, options } of await sampleCalls(emulator)) {
    const records = recordsOf(emulator)
    const { changes } = await traceOf(emulator, await emulator.request(method, path, options))
    for (const { ref, patch } of changes) {
      const after = applyPatch(records.get(ref), patch)
      if (after === undefined) records.delete(ref)
      else records.set(ref, after as JsonObject)
    }
    const byRef = (all: Map<string, JsonObject>) => Object.fromEntries([...all].sort())
    expect([name, byRef(records)]).toEqual([name, byRef(recordsOf(emulator))])
  }
})

function recordsOf({ sandbox }: TestEmulator): Map<string, JsonObject> {
  return new Map(
    [...sandbox.service.collections.keys()].flatMap((table) =>
      [...sandbox.store.rows(table)].map(
        ([id, row]) => [`${table}/${id}`, row as unknown as JsonObject] as const,
      ),
    ),
  )
}

test('a request is shown unchanged with query, headers and body, but without credentials', async () => {
  const emulator = await testEmulator()
  const headers = { 'x-trace': 'abc', cookie: 'session=1' }
  const response = await emulator.post('/pages?draft=1&draft=2', { name: 'Plan' }, { headers })
  const { body, text } = await explain(emulator, idOf(response))
  const line = { method: 'POST', path: `${mountPath()}/v1/pages`, query: { draft: ['1', '2'] } }
  const kept = { body: { name: 'Plan' }, body_kept: true, body_bytes: 15 }
  expect(body.request).toMatchObject({ ...line, ...kept, headers: { 'x-trace': 'abc' } })
  expect(text).not.toMatch(/authorization|cookie|live_owner|session=1|"host"/i)
})

test('the limiter is shown before and after, also if another rule refuses', async () => {
  const settings = { 'limits.admission.concurrency': 0 }
  const emulator = await testEmulator({ collections: sampleRecords, settings })
  const { limiter } = await traceOf(emulator, await emulator.post('/batch-predictions', batchBody()))
  expect(limiter).toMatchObject({
    ...{ key: 'ts-a batch-predictions.create', limit: 200, window_s: 60, before: { remaining: 200 } },
    // A request that another rule refuses does not count.
    after: { remaining: 200, retry_after: null },
    other_rule: { limit: 0, remaining: 0, retry_after: 30 },
  })
})

test('a trace keeps the settings at the time of the request', async () => {
  const settings = { 'status.unauthenticated': 403, 'errors.codes': { unauthorized: 'no_key' } }
  const emulator = await testEmulator({ settings })
  const response = await emulator.get('/data-views', { key: 'none' })
  setSettings(emulator.sandbox, {})
  const { assumptions, error } = await traceOf(emulator, response)
  expect([error?.status, assumptions]).toEqual([403, []])
})

test('a request of another sandbox can be explained from every sandbox, which creates none', async () => {
  const emulator = await testEmulator()
  await send(emulator, 'GET', '/@team-7/v1/data-views')
  const { body } = await explain(emulator, 'team-7-000001')
  expect(body.sandbox).toMatchObject({ name: 'team-7', chosen_by: 'path' })
  const unknown = await explain(emulator, 'team-8-000001')
  const message = 'There is no sandbox "team-8". Did you mean "team-7"?'
  expect([unknown.status, unknown.body.message]).toEqual([404, message])
  expect(emulator.emulator.sandboxes.get('team-8')).toBeUndefined()
})

test.for<[id: string, description: RegExp]>([
  ['default-000000', /There is no request/],
  ['default-0000001', /the sandbox has received 1 since its start or .*, and the last is default-000001\.$/],
  ['nonsense', /"nonsense" is not the id of a request/],
  ['default-1', /is not the id of a request/],
])('the error of an unknown id has the reason: %s', async ([id, description]) => {
  const emulator = await testEmulator()
  await emulator.get('/data-views')
  const { status, body } = await explain(emulator, id)
  expect([status, body.error]).toEqual([404, 'not_found'])
  expect(body.message).toMatch(description)
})

test('the error of a request that left the log differs from that of an unknown request', async () => {
  const emulator = await controlEmulator()
  for (let n = 0; n < 1_003; n++) emulator.perform('books.list')
  const { status, body } = await emulator.call('GET', '/explain/default-000003')
  expect([status, body.error]).toEqual([404, 'not_found'])
  expect(body.message).toBe(
    'The request default-000003 is not in the log any more. The log keeps the newest 1000; it has dropped 3 since the emulator was started or the log was emptied.',
  )
  expect((await emulator.call('GET', '/explain/default-000004')).status).toBe(200)
})

test('an explanation changes nothing', async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  const response = await emulator.post('/pages', { name: 'Plan' })
  const before = [emulator.digest(), JSON.stringify(emulator.sandbox.limits.windows.save())]
  const explained = async () => (await explain(emulator, idOf(response), '?stable=true')).text
  expect(await explained()).toBe(await explained())
  expect([emulator.digest(), JSON.stringify(emulator.sandbox.limits.windows.save())]).toEqual(before)
})

test('the log keeps no raw bytes and no errors, which would retain the whole request', async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  await emulator.post('/pages', { name: 'Plan' })
  await emulator.post('/pages', { name: 5 })
  const seen = new Set<unknown>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    for (const member of Object.values(value)) visit(member)
  }
  for (const entry of emulator.sandbox.log.entries()) visit(entry)
  expect([...seen].filter((value) => value instanceof Uint8Array || value instanceof Error)).toEqual([])
})

test('request numbers continue after a restart; the error of an earlier one differs from that of an unknown one', async () => {
  const data = dataFolder()
  const ask = (emulator: RunningEmulator) => fetch(`${emulator.baseUrl}/data-views`)
  const first = await alive(data)
  for (let n = 0; n < 3; n++) await ask(first.emulator)
  await first.emulator.close()
  const { emulator, control } = await alive(data)
  expect((await ask(emulator)).headers.get('x-emulator-request-id')).toBe('default-000004')
  const description = async (id: string) => (await control('GET', `/explain/${id}`)).body.message
  expect(await description('default-000002')).toContain('is not in the log any more')
  expect(await description('default-000005')).toContain('There is no request default-000005')
  expect((await control('GET', '/explain/default-000004')).status).toBe(200)
})
