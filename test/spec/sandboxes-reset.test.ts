import { expect, test } from 'vitest'
import { contentOf } from '../support/data-folder.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'
import { sampleCalls, sampleRecords } from '../support/sample-calls.ts'

/** Routes of the control interface that show a sandbox, in addition to its state. */
const VIEWS = [
  ...['/requests', '/limits', '/clock', '/clock/horizon', '/settings', '/assumptions', '/operations'],
  '/openapi.json?api=workspace',
]

/** Makes one request of every operation, successful for each with a contract, and a few that are refused. */
async function useEveryOperation(emulator: TestEmulator): Promise<void> {
  for (const { name, method, path, options } of await sampleCalls(emulator)) {
    const { status } = await emulator.request(method, path, options)
    expect([name, status < 400]).toEqual([name, true])
  }
  for (const { method, path } of emulator.sandbox.service.operations.values()) {
    const body = method === 'GET' ? {} : { json: {} }
    await emulator.request(method, path.replaceAll(/\{\w+\}/g, 'x'), body)
  }
  await emulator.get('/nowhere')
  await emulator.post('/pages', { name: 7 })
  await emulator.get('/data-views', { key: 'none' })
}

/** Makes a change by every kind of control route. */
async function intervene(emulator: TestEmulator): Promise<void> {
  const { control, post } = emulator
  const last = emulator.state('batch_predictions').at(-1).id
  const changes: readonly (readonly [method: string, path: string, json?: object])[] = [
    ['POST', '/webhooks', { url: 'http://127.0.0.1:9/hook' }],
    ['PATCH', `/batches/${last}`, { hold: true }],
    ['POST', `/batches/${last}/fail`, {}],
    ['PUT', '/limits/pages.create', { limit: 3, window_s: 5 }],
    ['POST', '/limits/data-views.list/fill', { remaining: 0 }],
    ['PATCH', '/settings', { 'status.validation': 422, unknown_fields: 'reject' }],
    ['POST', '/fixtures', { generate: { pages: 5 } }],
    ['POST', '/stubs', { method: 'GET', path: '/search', body: {} }],
    ['PUT', '/state/organizations/__proto__', { name: 'Odd' }],
    ['PATCH', '/state/organizations/org-2', { name: 'Renamed' }],
    ['DELETE', '/state/event_triggers/trigger-1'],
    ['POST', '/clock/advance', { by: '40d' }],
    ['POST', '/clock/advance', { steps: 1 }],
    ['PATCH', '/clock', { rate: 100, skip_on_poll: true }],
    ['DELETE', '/requests'],
    ['POST', '/snapshots', { name: 'base' }],
  ]
  for (const [method, path, json] of changes) {
    const { status } = await control(method, path, json)
    expect([method, path, status < 400]).toEqual([method, path, true])
  }
  await post('/batch-predictions', {}, { headers: { 'idempotency-key': 'k' } })
}

function told({ status, headers, text }: TestResponse): string {
  const kept = [...headers].filter(([name]) => !['connection', 'keep-alive'].includes(name))
  return JSON.stringify([status, kept, text])
}

/** The responses to a fixed sequence of requests, with headers, and the state after it. */
async function session(emulator: TestEmulator): Promise<string[]> {
  const responses: string[] = []
  for (const { method, path, options } of await sampleCalls(emulator))
    responses.push(told(await emulator.request(method, path, options)))
  responses.push(JSON.stringify((await emulator.control('POST', '/clock/advance', { by: '30d' })).body))
  responses.push(contentOf(emulator.sandbox.document()))
  return responses
}

// URLs in responses contain the port of their emulator, and the two emulators have different ports.
function withoutPorts(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/(?<=127\.0\.0\.1:)\d+/g, 'port')
}

async function views({ control }: TestEmulator): Promise<unknown[]> {
  return Promise.all(VIEWS.map(async (path) => [path, (await control('GET', path)).body]))
}

test('after every operation and every kind of intervention a sandbox equals itself when loaded from its document, and a new one after a reset', async () => {
  const used = await testEmulator({ collections: sampleRecords })
  const fresh = await testEmulator({ collections: sampleRecords })
  await useEveryOperation(used)
  await used.control('POST', '/provider-events', { source: 'provider_a', event: 'Document:created' })
  await intervene(used)
  await used.control('PATCH', '/clock', { rate: 0 })
  await used.control('POST', '/clock/advance', { by: '0s' })
  const then = (await used.control('GET', '/state')).body
  expect((await used.control('PUT', '/state', then)).status).toBe(200)
  expect(contentOf((await used.control('GET', '/state')).body)).toBe(contentOf(then))
  expect(contentOf(used.sandbox.document())).not.toBe(contentOf(fresh.sandbox.document()))
  expect((await used.control('POST', '/reset')).status).toBe(200)
  // The revision continues, so that the journal on the disk never has two commits with one number.
  expect(used.sandbox.store.revision).toBeGreaterThan(fresh.sandbox.store.revision)
  expect(contentOf(used.sandbox.document())).toBe(contentOf(fresh.sandbox.document()))
  expect(used.sandbox.log.save()).toEqual(fresh.sandbox.log.save())
  expect(withoutPorts(await views(used))).toBe(withoutPorts(await views(fresh)))
  // State outside the document would change these later responses.
  expect(withoutPorts(await session(used))).toBe(withoutPorts(await session(fresh)))
})
