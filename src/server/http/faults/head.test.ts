import { expect, test } from 'vitest'
import { faultedServer, seen } from '../../../../test/support/faulted-server.ts'
import { overSocket, requestBytes, viaFetch } from '../../../../test/support/wire-client.ts'
import type { HeadFault } from './head.ts'

const head = (head: HeadFault) => ({ actions: [{ head }] })

test('a response without faults has the bytes of a normal response', async () => {
  const { text, end, sent } = await seen({})
  expect(text).toBe(
    'HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nVary: Origin\r\nContent-Length: 11\r\n' +
      'Connection: close\r\n\r\n{"ok":true}',
  )
  expect(end).toBe('fin')
  expect(sent).toEqual([{ stage: 'end', bytes: text.length, end: 'whole' }])
})

test('status and reason are replaced; the default reason is that of the new status', async () => {
  expect((await seen(head({ status: 503 }))).text).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/)
  expect((await seen(head({ status: 599 }))).text).toMatch(/^HTTP\/1\.1 599 \r\n/)
  expect((await seen(head({ reason: 'Fine' }))).text).toMatch(/^HTTP\/1\.1 200 Fine\r\n/)
})

test('set replaces a header in its place, in any letter case, and adds others after ours', async () => {
  const { head: bytes } = await seen(head({ set: { 'content-TYPE': 'text/html', 'x-New': '1' } }))
  expect(bytes.split('\r\n').slice(1)).toEqual([
    'content-TYPE: text/html',
    'Vary: Origin',
    'Content-Length: 11',
    'Connection: close',
    'x-New: 1',
  ])
})

test('remove deletes every header with the name, even the Date that Node would add', async () => {
  const headers = [
    ['X-A', '1'],
    ['x-a', '2'],
    ['Date', 'now'],
  ] as const
  const { head: bytes } = await seen({ ...head({ remove: ['x-A', 'date'] }), headers })
  expect(bytes).not.toMatch(/x-a|date/i)
})

test('raw pairs are added after our headers, with their letter case and repetitions', async () => {
  const raw = [
    ['RETRY-after', '1'],
    ['Retry-After', '2'],
    ['vary', '*'],
  ] as const
  const { head: bytes } = await seen(head({ raw }))
  expect(bytes.split('\r\n').slice(-3)).toEqual(['RETRY-after: 1', 'Retry-After: 2', 'vary: *'])
  expect(bytes).toContain('Vary: Origin')
})

test('case changes our own header names, framing included, but not those that the fault sets', async () => {
  const { head: bytes } = await seen(head({ case: 'lower', set: { 'X-Kept': '1' } }))
  expect(bytes).toMatch(
    /\r\ncontent-type: .*\r\nvary: .*\r\ncontent-length: .*\r\nconnection: close\r\nX-Kept: 1/,
  )
  const upper = await seen(head({ case: 'upper' }))
  expect(upper.head).toMatch(/\r\nCONTENT-TYPE: application\/json/)
})

test('informational responses are sent before the response, with their headers', async () => {
  const interim = [{ status: 102 }, { status: 103, headers: { Link: '</a>; rel=preload' } }]
  const { text, sent } = await seen(head({ interim }))
  expect(text).toMatch(
    /^HTTP\/1\.1 102 Processing\r\n\r\nHTTP\/1\.1 103 Early Hints\r\nLink: <\/a>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n/,
  )
  expect(sent[0]?.bytes).toBe(text.length)
})

test('a response with version 1.0 ends with its connection', async () => {
  const { text, end } = await seen(head({ version: '1.0' }))
  expect(text).toMatch(/^HTTP\/1\.0 200 OK\r\n[\s\S]*Connection: close\r\n\r\n\{"ok":true\}$/)
  expect(end).toBe('fin')
})

test('a name or value that Node refuses is written unchanged, and the connection ends', async () => {
  const { port } = await faultedServer(head({ raw: [['bad name', 'ünï \u0007 €']] }))
  const view = await overSocket(port, requestBytes({ path: '/', headers: { Connection: 'keep-alive' } }))
  expect(Buffer.from(view.text, 'latin1').toString()).toContain('\r\nbad name: ünï \u0007 €\r\n')
  expect(view.end).toBe('fin')
})

test('headers that contradict the framing are written unchanged', async () => {
  const twice = await seen(head({ raw: [['Content-Length', '99']] }))
  expect(twice.head).toMatch(/Content-Length: 11\r\n[\s\S]*Content-Length: 99/)
  const none = await seen(head({ remove: ['content-length'] }))
  expect(none.head).not.toContain('Content-Length')
  expect(none.body).toBe('{"ok":true}')
  const wrong = await seen(head({ set: { 'Content-Length': '5' } }))
  expect(wrong.head).toContain('Content-Length: 5')
  expect(wrong.body).toBe('{"ok":true}')
})

test('a connection can be used for the next request after a changed head', async () => {
  const { port } = await faultedServer(head({ status: 429, case: 'lower', raw: [['Retry-After', '0']] }))
  const request = requestBytes({ path: '/', headers: { Connection: 'keep-alive' } })
  const { text, end } = await overSocket(port, [request, requestBytes({ path: '/' })])
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 429', 'HTTP/1.1 200'])
  expect(text).toMatch(/connection: keep-alive\r\nkeep-alive: timeout=65\r\n/)
  expect(end).toBe('fin')
})

test('fetch reads a changed head like any other', async () => {
  const { port } = await faultedServer(head({ status: 418, set: { 'x-a': 'b' }, interim: [{ status: 103 }] }))
  const view = await viaFetch(`http://127.0.0.1:${port}/`)
  expect(view).toMatchObject({ status: 418, headers: { 'x-a': 'b' }, body: '{"ok":true}' })
})
