import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { seen } from '../../../../test/support/faulted-server.ts'
import type { BodyFault } from './body.ts'

const body = (body: BodyFault) => ({ actions: [{ body }] })

async function sees(fault: BodyFault, text: string | undefined = '{"a":1,"b":{"c":[2]}}') {
  const view = await seen({ ...body(fault), text })
  const length = /content-length: (\d+)/i.exec(view.head)?.[1]
  const type = /content-type: (.*)/i.exec(view.head)?.[1]
  // The Content-Length is correct after every change.
  expect(Number(length)).toBe(view.body.length)
  return { ...view, type }
}

test('patch is merged into the body', async () => {
  const { body, type } = await sees({ patch: { a: null, b: { d: 'é' }, __proto__x: 1 } })
  expect(JSON.parse(Buffer.from(body, 'latin1').toString())).toEqual({ b: { c: [2], d: 'é' }, __proto__x: 1 })
  expect(type).toBe('application/json; charset=utf-8')
})

test('patch creates a body for a response without one', async () => {
  const view = await seen({ ...body({ patch: { a: 1 } }), status: 200, text: undefined, headers: [] })
  expect(view.body).toBe('{"a":1}')
  expect(view.head).toContain('Content-Type: application/json; charset=utf-8')
})

test('nulls sets the named fields to null', async () => {
  expect((await sees({ nulls: ['/b/c', '/a'] })).body).toBe('{"a":null,"b":{"c":null}}')
})

test('text replaces the body and is plain text unless its type is given', async () => {
  expect(await sees({ text: 'off' })).toMatchObject({ body: 'off', type: 'text/plain; charset=utf-8' })
  const json = await sees({ text: '{"a":', type: 'application/json' })
  expect(json).toMatchObject({ body: '{"a":', type: 'application/json' })
})

test('base64 replaces the bytes and leaves the type as it was', async () => {
  const { body, type } = await sees({ base64: Buffer.from([0x7b, 0xff, 0x7d]).toString('base64') })
  expect(Buffer.from(body, 'latin1')).toEqual(Buffer.from([0x7b, 0xff, 0x7d]))
  expect(type).toBe('application/json; charset=utf-8')
})

test('the fixtures are HTML pages and an empty body', async () => {
  for (const fixture of ['html-error', 'html-login'] as const) {
    const view = await sees({ fixture })
    expect(view.type).toBe('text/html; charset=utf-8')
    expect(view.body).toMatch(/^<!doctype html>/)
  }
  expect(await sees({ fixture: 'empty' })).toMatchObject({
    body: '',
    type: 'application/json; charset=utf-8',
  })
})

test('envelope wraps the body unchanged, to the last digit', async () => {
  expect((await sees({ envelope: 'da"ta' }, '{"n":12345678901234567890}')).body).toBe(
    '{"da\\"ta":{"n":12345678901234567890}}',
  )
})

test('raw_number writes digits that no double can hold', async () => {
  const raw_number = { pointer: '/b/c/0', digits: '9007199254740993.10' }
  expect((await sees({ raw_number })).body).toBe('{"a":1,"b":{"c":[9007199254740993.10]}}')
})

test('prefix_b64 adds bytes before the body', async () => {
  const { body } = await sees({ prefix_b64: '77u/' })
  expect(Buffer.from(body, 'latin1').subarray(0, 4)).toEqual(Buffer.from([0xef, 0xbb, 0xbf, 0x7b]))
})

test('truncate keeps the beginning of the body, with a Content-Length that matches', async () => {
  expect((await sees({ truncate: { fraction: 0.5 } })).body).toBe('{"a":1,"b"')
  expect((await sees({ truncate: { bytes: 0 } })).body).toBe('')
})

test('encode compresses the body and sets Content-Encoding', async () => {
  const zipped = await sees({ encode: 'gzip' })
  expect(zipped.head).toContain('Content-Encoding: gzip')
  expect(gunzipSync(Buffer.from(zipped.body, 'latin1')).toString()).toBe('{"a":1,"b":{"c":[2]}}')
  const brotli = await sees({ encode: 'br' })
  expect(brotliDecompressSync(Buffer.from(brotli.body, 'latin1')).toString()).toBe('{"a":1,"b":{"c":[2]}}')
})

test('the fields of one fault are applied in their order, and several faults in theirs', async () => {
  const one = { truncate: { bytes: 12 }, envelope: 'd', patch: { b: null } }
  expect((await sees(one)).body).toBe('{"d":{"a":1}')
  const several = [{ body: { text: 'x' } }, { body: { prefix_b64: 'eQ==' } }]
  expect((await seen({ actions: several })).body).toBe('yx')
})

test('patch changes every line of an NDJSON body, which stays a stream', async () => {
  const lines = ['{"id":1}\n', '{"id":2}\n']
  const { head, body: bytes } = await seen({ ...body({ patch: { x: 1 } }), text: undefined, lines })
  expect(head).toContain('Transfer-Encoding: chunked')
  expect(bytes).toBe(
    '24\r\n{"id":1,"x":1}\n{"id":2,"x":1}\n\r\n0\r\n\r\n'.replace('24', (32 - 2).toString(16)),
  )
})

test('neither HEAD nor 204 gets a body', async () => {
  const view = await seen(body({ text: 'four' }), { method: 'HEAD' })
  expect(view.head).toContain('Content-Length: 4')
  expect(view.body).toBe('')
  const none = await seen({ ...body({ text: 'four' }), status: 204, text: undefined })
  expect(none.body).toBe('')
  expect(none.head).not.toContain('Content-Length')
})
