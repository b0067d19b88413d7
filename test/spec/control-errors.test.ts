import fc from 'fast-check'
import { expect, test } from 'vitest'
import { service } from '../../src/core/service.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { library } from '../support/library.ts'

test('an unknown route is a 404 that names the nearest one', async () => {
  const emulator = await controlEmulator()
  const near = await emulator.call('GET', '/clock/advanse')
  expect(near.status).toBe(404)
  expect(near.body).toMatchObject({ error: 'route_not_found', retryable: false, details: {} })
  expect(near.body.message).toContain('Did you mean "/__emulator/clock/advance"?')
  expect((await emulator.call('GET', '/stat/shelves/s1')).body.message).toContain(
    '"/__emulator/state/shelves/s1"',
  )
  expect((await emulator.call('GET', '/clock/')).body.message).toContain('"/__emulator/clock"')
  expect((await emulator.call('GET', '/Clock')).status).toBe(404)
})

test('a wrong method is a 405 with Allow', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('DELETE', '/clock')
  expect(response.status).toBe(405)
  expect(response.headers.allow).toBe('GET, PATCH, HEAD')
  expect(response.body).toMatchObject({ status_code: 405, error: 'method_not_allowed' })
  expect((await emulator.call('OPTIONS', '/clock/advance')).headers.allow).toBe('POST, GET, HEAD')
})

test('HEAD responds like GET, without the body', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('HEAD', '/clock')
  expect(response.status).toBe(200)
  expect(response.text).toBe('')
  expect(Number(response.headers['content-length'])).toBeGreaterThan(10)
})

test('malformed JSON is a 400 that names line and column', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('POST', '/clock/advance', undefined, { raw: '{"by":\n"1h",}' })
  expect(response.status).toBe(400)
  expect(response.body.error).toBe('malformed_json')
  expect(response.body.message).toContain('line 2')
})

test('all errors of a body and a query are reported at once, by JSON Pointer', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('PATCH', '/clock?verbose=1', { rate: -1, now: 'soon', rat: 2 })
  expect(response.status).toBe(400)
  expect(response.body.error).toBe('validation_failed')
  expect(response.body.details.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
    '/now',
    '/query/verbose',
    '/rat',
    '/rate',
  ])
  expect(response.body.details.errors).toContainEqual({
    pointer: '/rat',
    detail: 'is not a known field. Did you mean "rate"?',
  })
})

test('a body that is missing is required, and a route without a body accepts only an empty object', async () => {
  const emulator = await controlEmulator()
  const missing = await emulator.call('POST', '/clock/advance')
  expect(missing.body.details.errors).toEqual([{ pointer: '', detail: 'a JSON body is required' }])
  expect((await emulator.call('DELETE', '/requests', {})).status).toBe(204)
  const refused = await emulator.call('DELETE', '/requests', { all: true })
  expect(refused.body.details.errors).toMatchObject([{ pointer: '/all' }])
})

test('a body over its limit is a 413, and one that is nested too deep a 400', async () => {
  const emulator = await controlEmulator()
  const large = await emulator.call('PATCH', '/settings', { x: 'a'.repeat(1_048_577) })
  expect([large.status, large.body.error]).toEqual([413, 'payload_too_large'])
  const deep = await emulator.call('PUT', '/state', undefined, { raw: `${'['.repeat(65)}${']'.repeat(65)}` })
  expect([deep.status, deep.body.error]).toEqual([400, 'validation_failed'])
  const fits = await emulator.call('PUT', '/state', { x: 'a'.repeat(1_048_577) })
  expect(fits.body.details.errors.some(({ pointer }: { pointer: string }) => pointer === '/x')).toBe(true)
})

test('a client that sends Expect: 100-continue is asked for its body, then gets the response', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('POST', '/reset', { seed: 2 }, { headers: { expect: '100-continue' } })
  expect([response.status, response.body.seed]).toEqual([200, 2])
})

test('an invalid percent-encoding is a 400 in JSON, without a stack trace', {
  tags: ['R253'],
}, async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('GET', '/state/%E0%A4%A')
  expect(response.status).toBe(400)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.body.error).toBe('bad_request')
  expect(response.text).not.toMatch(/at \/|node_modules|<!DOCTYPE|URIError/i)
})

test('a defect is a 500 in JSON without internal details, and the host is notified', {
  tags: ['R253'],
}, async () => {
  const emulator = await controlEmulator({ forgiving: true })
  const before = emulator.digest()
  const response = await emulator.call('POST', '/break')
  expect(response.status).toBe(500)
  expect(response.body).toMatchObject({ error: 'internal_error', retryable: false })
  expect(response.text).not.toMatch(/secret|node_modules|TypeError/)
  expect(emulator.defects.map(String)).toEqual(['TypeError: at /secret/place (node_modules/x.js:1:1)'])
  expect(emulator.digest()).toBe(before)
})

test('statuses of control errors do not depend on the settings for statuses of the API', async () => {
  const emulator = await controlEmulator({ settings: { 'status.validation': 422, 'status.not_found': 403 } })
  expect((await emulator.call('POST', '/clock/advance', {})).status).toBe(400)
  expect((await emulator.call('GET', '/state/nothing')).status).toBe(404)
})

test('the Date header is virtual', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('POST', '/clock/advance', { to: '2030-01-01T00:00:00.000Z' })
  expect(response.headers.date).toBe('Tue, 01 Jan 2030 00:00:00 GMT')
})

test('control requests are never rate limited, and never in the log of requests', async () => {
  const emulator = await controlEmulator()
  for (let n = 0; n < 250; n++) expect((await emulator.call('GET', '/clock')).status).toBe(200)
  expect((await emulator.call('GET', '/requests')).body.data).toEqual([])
  expect((await emulator.call('GET', '/limits')).body.data).toEqual([])
})

test('no control request causes a 5xx or HTML, and no refusal changes the sandbox', {
  tags: ['R254'],
}, async () => {
  const emulator = await controlEmulator()
  const paths = controlRoutes(service([library], serviceFacts))
    .map(({ method, path }) => [method, String(path)] as const)
    .filter(([, path]) => path !== '/break')
  const words = (text: string) => fc.constantFrom(...text.split(' '))
  const segment = fc.oneof(
    words('shelves books s1 b1 __proto__ constructor %00 %2F ..%2f books.list'),
    fc.string({ maxLength: 8 }).map(encodeURIComponent),
  )
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    words('24h P1D 9998-12-31T23:59:59.999Z 0000-01-01T00:00:00Z -30d 999999999999999d'),
    fc.constant(1e308),
  )
  const keys = fc.oneof(
    words('by to steps now rate skip_on_poll fixtures seed clock id name note collections generate'),
    words('extends limit window_s remaining after __proto__ title shelves.name_bound'),
  )
  const body = fc.oneof(fc.dictionary(keys, value, { maxKeys: 3 }), fc.jsonValue({ maxDepth: 3 }))
  const request = fc.record({ place: fc.constantFrom(...paths), segment, body, query: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(request, async ({ place: [method, template], segment, body, query }) => {
      const path =
        template.replaceAll(/\{\w+\}/g, () => segment) + (query ? '?limit=%zz&since=&status=9xx&x' : '')
      const before = emulator.digest()
      const response = await emulator.call(method, path, method === 'GET' ? undefined : body)
      expect(response.status).toBeLessThan(500)
      expect(response.text).not.toMatch(/<html|node_modules|\n {4}at /i)
      if (response.status >= 400) expect(emulator.digest()).toBe(before)
    }),
    { numRuns: 400, seed: 7 },
  )
  expect((await emulator.call('GET', '/health')).status).toBe(200)
})
