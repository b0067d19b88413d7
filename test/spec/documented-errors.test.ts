import { expect, test } from 'vitest'
import { type TestEmulator, type TestResponse, testEmulator } from '../support/emulator.ts'
import { type SampleCall, sampleCalls, sampleRecords } from '../support/sample-calls.ts'

/** The ways in which a request of any operation is refused. The tests of transports are about 401 and 429. */
const REFUSALS: Record<number, (emulator: TestEmulator, call: SampleCall) => Promise<TestResponse>> = {
  // A GET has no body; a query that is invalid for every list stands for it. A promotion reads neither: its path is malformed.
  400: ({ request }, { name, method, path }) => {
    if (name === 'skills.promote') return request(method, path.replace(/skills\/[^/]+/, 'skills/%E0%A4%A'))
    return method === 'GET' ? request(method, `${path}?limit=0`) : request(method, path, { raw: '{' })
  },
  403: async ({ control, request }, { name, method, path, options }) => {
    await control('PATCH', '/state/api_keys/key-owner', { denied: [name] })
    return request(method, path, options)
  },
  413: async ({ control, request }, { method, path }) => {
    await control('PATCH', '/settings', { 'http.body_limit': 1_024 })
    return request(method, path, { raw: JSON.stringify({ name: 'x'.repeat(2_048) }) })
  },
}

test.for(Object.entries(REFUSALS))(
  'every operation that lists %s sends it in its format',
  async ([key, send]) => {
    const status = Number(key)
    const emulator = await testEmulator({ collections: sampleRecords })
    const { body: document } = await emulator.control('GET', '/openapi.json?api=workspace')
    const operations = Object.values<object>(document.paths).flatMap((path) => Object.values(path))
    for (const call of await sampleCalls(emulator)) {
      const operation = operations.find(({ operationId }) => operationId === call.name)
      const { responses: listed } = operation
      // Operations without a contract accept every query.
      const acceptsAll = operation['x-contract'] === false && operation.requestBody === undefined
      if (status === 400 && acceptsAll) continue
      if (!(status in listed) || (status === 413 && call.name === 'batch-predictions.create')) continue
      const response = await send(emulator, call)
      expect([call.name, response.status]).toEqual([call.name, status])
      expect(response.headers.get('content-type')).toContain(Object.keys(listed[status]?.content ?? {})[0])
    }
  },
)
