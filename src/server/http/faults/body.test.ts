import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { seen } from '../../../../test/support/faulted-server.ts'
import type { BodyFault } from './body.ts'

const BIG = '9007199254740993.10'
const GIVEN = '{"a":1,"b":{"c":[2]}}'
const JSON_TYPE = 'application/json; charset=utf-8'

const body = (body: BodyFault) => ({ actions: [{ body }] })

async function sees(fault: BodyFault, text = GIVEN) {
  const view = await seen({ ...body(fault), text })
  const [length, type] = ['length', 'type'].map(
    (name) => new RegExp(`content-${name}: (.*)`, 'i').exec(view.head)?.[1],
  )
  expect(Number(length), 'the Content-Length is correct after every change').toBe(view.body.length)
  return { ...view, type }
}

test.for<[what: string, fault: BodyFault, body: string, type?: string]>([
  ['a patch is merged', { patch: { a: null, b: { d: 3 }, e: 1 } }, '{"b":{"c":[2],"d":3},"e":1}'],
  ['named fields become null', { nulls: ['/b/c', '/a'] }, '{"a":null,"b":{"c":null}}'],
  ['text is plain text', { text: 'off' }, 'off', 'text/plain; charset=utf-8'],
  ['text has the given type', { text: '{"a":', type: 'application/json' }, '{"a":', 'application/json'],
  ['bytes keep the type', { base64: Buffer.from('{\xff}', 'latin1').toString('base64') }, '{\xff}'],
  ['an empty body keeps the type', { fixture: 'empty' }, ''],
  ['an envelope contains the body', { envelope: 'da"ta' }, `{"da\\"ta":${GIVEN}}`],
  ['digits stay', { raw_number: { pointer: '/b/c/0', digits: BIG } }, `{"a":1,"b":{"c":[${BIG}]}}`],
  ['bytes come before the body', { prefix_b64: '77u/' }, `\xef\xbb\xbf${GIVEN}`],
  ['a half is cut off', { truncate: { fraction: 0.5 } }, '{"a":1,"b"'],
  ['all is cut off', { truncate: { bytes: 0 } }, ''],
  ['fields have an order', { truncate: { bytes: 12 }, envelope: 'd', patch: { b: null } }, '{"d":{"a":1}'],
])('%s: %j leads to %j', async ([, fault, body, type = JSON_TYPE]) => {
  expect(await sees(fault)).toMatchObject({ body, type })
})

test.for(['html-error', 'html-login'] as const)('the fixture %s is an HTML page', async (fixture) => {
  const page = { body: expect.stringMatching(/^<!doctype html>/), type: 'text/html; charset=utf-8' }
  expect(await sees({ fixture })).toMatchObject(page)
})

test('an envelope keeps the body to the last digit, and a patch its characters', async () => {
  const long = '{"n":12345678901234567890}'
  expect((await sees({ envelope: 'd' }, long)).body).toBe(`{"d":${long}}`)
  expect(Buffer.from((await sees({ patch: { a: 'é' } }, '{}')).body, 'latin1').toString()).toBe('{"a":"é"}')
})

test('encode compresses the body and sets Content-Encoding', async () => {
  const zipped = await sees({ encode: 'gzip' })
  expect(zipped.head).toContain('Content-Encoding: gzip')
  expect(gunzipSync(Buffer.from(zipped.body, 'latin1')).toString()).toBe(GIVEN)
  const brotli = await sees({ encode: 'br' })
  expect(brotliDecompressSync(Buffer.from(brotli.body, 'latin1')).toString()).toBe(GIVEN)
})

test('several faults are applied in their order', async () => {
  const several = [{ body: { text: 'x' } }, { body: { prefix_b64: 'eQ==' } }]
  expect((await seen({ actions: several })).body).toBe('yx')
})

test('a patch creates the body of a response without one', async () => {
  const view = await seen({ ...body({ patch: { a: 1 } }), status: 200, text: undefined, headers: [] })
  expect(view.body).toBe('{"a":1}')
  expect(view.head).toContain(`Content-Type: ${JSON_TYPE}`)
})

test('a patch changes every line of an NDJSON body, which stays a stream', async () => {
  const lines = ['{"id":1}\n', '{"id":2}\n']
  const { head, body: bytes } = await seen({ ...body({ patch: { x: 1 } }), text: undefined, lines })
  expect(head).toContain('Transfer-Encoding: chunked')
  expect(bytes).toBe('1e\r\n{"id":1,"x":1}\n{"id":2,"x":1}\n\r\n0\r\n\r\n')
})

test('neither HEAD nor 204 gets a body', async () => {
  const view = await seen(body({ text: 'four' }), { method: 'HEAD' })
  expect(view.head).toContain('Content-Length: 4')
  const none = await seen({ ...body({ text: 'four' }), status: 204, text: undefined })
  expect(none.head).not.toContain('Content-Length')
  expect([view.body, none.body]).toEqual(['', ''])
})
