import fc from 'fast-check'
import { expect, test } from 'vitest'
import { service } from '../../src/core/service.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { library } from '../support/library.ts'

const LARGE = JSON.stringify({ x: 'a'.repeat(1_048_577) })

test.for([
  ['a misspelt route', 'GET /clock/advanse', '', 404, 'route_not_found', 'mean "/__emulator/clock/advance"?'],
  ['a misspelt start', 'GET /stat/shelves/s1', '', 404, 'route_not_found', '"/__emulator/state/shelves/s1"'],
  ['a slash at the end', 'GET /clock/', '', 404, 'route_not_found', '"/__emulator/clock"'],
  ['another letter case', 'GET /Clock', '', 404, 'route_not_found', ''],
  ['a misspelt limit', 'PUT /limits/book.list', '{"limit":1}', 404, 'not_found', 'mean "books.list"?'],
  ['a limit of nothing', 'POST /limits/at-all/fill', '{"remaining":1}', 404, 'not_found', 'no operation'],
  ['a wrong percent-encoding', 'GET /state/%E0%A4%A', '', 400, 'bad_request', ''],
  ['another method', 'DELETE /clock', '', 405, 'method_not_allowed', ''],
  ['malformed JSON', 'POST /clock/advance', '{"by":\n"1h",}', 400, 'malformed_json', 'line 2'],
  ['a missing body', 'POST /clock/advance', '', 400, 'validation_failed', 'a JSON body is required'],
  ['a body that is not read', 'DELETE /requests', '{"all":true}', 400, 'validation_failed', '/all'],
  ['deep nesting', 'PUT /state', `${'['.repeat(65)}${']'.repeat(65)}`, 400, 'validation_failed', ''],
  ['a large body', 'PATCH /settings', LARGE, 413, 'payload_too_large', ''],
  ['the same on a route for larger ones', 'PUT /state', LARGE, 400, 'validation_failed', '/x'],
] as const)('%s is refused in JSON', { tags: ['R253'] }, async ([, call, raw, status, code, words]) => {
  // The statuses of the API do not apply.
  const settings = { 'status.validation': 422, 'status.not_found': 403 }
  const emulator = await controlEmulator({ settings })
  const [method = '', path = ''] = call.split(' ')
  const response = await emulator.call(method, path, undefined, raw === '' ? {} : { raw })
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.body).toMatchObject({ status_code: status, error: code, retryable: false })
  expect([response.status, response.body.message]).toEqual([status, expect.stringContaining(words)])
  expect(response.text).not.toMatch(/at \/|node_modules|<!DOCTYPE|URIError/i)
})

test('a 405 has the header Allow, and HEAD responds like GET, without the body', async () => {
  const emulator = await controlEmulator()
  expect((await emulator.call('DELETE', '/clock')).headers.allow).toBe('GET, PATCH, HEAD')
  expect((await emulator.call('OPTIONS', '/clock/advance')).headers.allow).toBe('POST, GET, HEAD')
  const response = await emulator.call('HEAD', '/clock')
  expect([response.status, response.text]).toEqual([200, ''])
  expect(Number(response.headers['content-length'])).toBeGreaterThan(10)
})

test('a defect is a 500 without details, and is reported to the host', { tags: ['R253'] }, async () => {
  const emulator = await controlEmulator({ forgiving: true })
  const before = emulator.digest()
  const response = await emulator.call('POST', '/break')
  expect(response.status).toBe(500)
  expect(response.body).toMatchObject({ error: 'internal_error', retryable: false })
  expect(response.text).not.toMatch(/secret|node_modules|TypeError/)
  expect(emulator.defects.map(String)).toEqual(['TypeError: at /secret/place (node_modules/x.js:1:1)'])
  expect(emulator.digest()).toBe(before)
})

test('control requests are never rate limited, and never in the log of requests', async () => {
  const emulator = await controlEmulator()
  for (let n = 0; n < 201; n++) expect((await emulator.call('GET', '/clock')).status).toBe(200)
  expect((await emulator.call('DELETE', '/requests', {})).status).toBe(204)
  expect((await emulator.call('GET', '/requests')).body.data).toEqual([])
  expect((await emulator.call('GET', '/limits')).body.data).toEqual([])
})

test('no control request causes a 5xx or HTML, and no refusal a change', { tags: ['R254'] }, async () => {
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
