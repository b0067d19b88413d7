import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { viaFetch, viaHttp } from '../support/wire-client.ts'
import { USERS } from './presets/preset-case.ts'
import { type Stage, theatre } from './presets/stage.ts'
import { parse, split } from './presets/views.ts'

/** A stage with an armed rule that is not a preset. */
async function withRule(rule: JsonObject, client = viaFetch): Promise<Stage> {
  const { stage } = await theatre()
  const on = await stage(client)
  const { status, body } = await on.control('POST', '/faults', { id: 'mine', ...rule })
  expect(status, JSON.stringify(body)).toBe(201)
  return on
}

test('composed: 103 Early Hints, then 102, then the response', async () => {
  const stage = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [
      { head: { interim: [{ status: 103, headers: { Link: '</a.css>; rel=preload' } }, { status: 102 }] } },
    ],
  })
  const { text } = await stage.raw('GET', USERS)
  expect([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(['103', '102', '200'])
  expect((await stage.call('GET', USERS)).status).toBe(200)
})

test('composed: two headers of one name in odd letter cases', async () => {
  const stage = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [
      {
        head: {
          raw: [
            ['x-RATELIMIT-limit', '7'],
            ['X-Odd', 'a'],
            ['x-odd', 'b'],
          ],
        },
      },
    ],
  })
  const { head } = split((await stage.raw('GET', USERS)).text)
  expect(head).toMatch(/X-RateLimit-Limit: 200[\s\S]*x-RATELIMIT-limit: 7[\s\S]*X-Odd: a\r\nx-odd: b/)
})

test('composed: HTTP/1.0, another reason phrase, and a body that ends with the connection', async () => {
  const stage = await withRule(
    {
      match: { operation: 'teamspace-users.list' },
      do: [{ head: { version: '1.0', reason: 'Fine' } }, { frame: { mode: 'close' } }],
    },
    viaHttp(),
  )
  const { text, end } = await stage.raw('GET', USERS)
  expect(text).toMatch(/^HTTP\/1\.0 200 Fine\r\n/)
  expect(text).not.toMatch(/content-length|transfer-encoding/i)
  expect(end).toBe('fin')
  expect(parse((await stage.call('GET', USERS)).body)?.data).toHaveLength(2)
})

test('composed: a count that no double can represent, next to unchanged fields', async () => {
  const stage = await withRule({
    match: { operation: 'batch-predictions.retrieve' },
    do: [{ body: { raw_number: { pointer: '/request_counts/total', digits: '9007199254740993' } } }],
  })
  const id = await stage.batch()
  const { body } = await stage.call('GET', `/batch-predictions/${id}`)
  expect(body).toContain('"total":9007199254740993,')
  expect(parse(body).id).toBe(id)
})

test('composed: Brotli without regard to Accept-Encoding', async () => {
  const stage = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [{ body: { encode: 'br' } }, { frame: { mode: 'length' } }],
  })
  const { text } = await stage.raw('GET', USERS)
  const { head, body } = split(text)
  expect(head).toMatch(/content-encoding: br/i)
  expect(parse(brotliDecompressSync(Buffer.from(body, 'latin1')).toString()).object).toBe('list')
  expect(parse((await stage.call('GET', USERS)).body)?.object).toBe('list')
})

test('composed: bytes after the end of the message', async () => {
  const stage = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [{ frame: { mode: 'length', tail_b64: Buffer.from('HTTP/1.1 200 OK\r\n').toString('base64') } }],
  })
  const { text, end } = await stage.raw('GET', USERS)
  const { head, body } = split(text)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
  expect(body.slice(length)).toBe('HTTP/1.1 200 OK\r\n')
  expect(end).toBe('fin')
})

test('composed: bytes that are not HTTP', async () => {
  const stage = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [{ raw: { base64: Buffer.from('SSH-2.0-adapter\r\n').toString('base64') } }],
  })
  expect(await stage.raw('GET', USERS)).toMatchObject({ text: 'SSH-2.0-adapter\r\n', end: 'fin' })
  expect((await stage.call('GET', USERS)).error).toBeDefined()
})

test('composed: a 204 with a body', async () => {
  const stage = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [{ head: { status: 204 } }, { frame: { mode: 'length' } }],
  })
  const { text } = await stage.raw('GET', USERS)
  expect(text).toMatch(/^HTTP\/1\.1 204/)
  expect(split(text).body).toContain('"object":"list"')
})
