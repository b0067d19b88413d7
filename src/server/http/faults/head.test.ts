import { expect, test } from 'vitest'
import { faultedServer, seen } from '../../../../test/support/faulted-server.ts'
import { overSocket, requestBytes } from '../../../../test/support/wire-client.ts'
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

const OURS =
  'Content-Type: application/json; charset=utf-8\nVary: Origin\nContent-Length: 11\nConnection: close'
const OK = 'HTTP/1.1 200 OK\n'
const TYPED = OURS.replace(/.*/, 'content-TYPE: a/b')
const UPPER = OURS.replaceAll(/^[^:]*/gm, (name) => name.toUpperCase())
const RAW = Object.entries({ 'RETRY-after': '1', 'Retry-After': '2', vary: '*' })
const INTERIM = [{ status: 102 }, { status: 103, headers: { Link: '</a>' } }]
const HINTS = 'HTTP/1.1 102 Processing\n\nHTTP/1.1 103 Early Hints\nLink: </a>\n\n'

test.for<[what: string, fault: HeadFault, head: string]>([
  ['a status brings its reason', { status: 503 }, `HTTP/1.1 503 Service Unavailable\n${OURS}`],
  ['an unknown status has no reason', { status: 599 }, `HTTP/1.1 599 \n${OURS}`],
  ['a reason is replaced', { reason: 'Fine' }, `HTTP/1.1 200 Fine\n${OURS}`],
  ['a version is replaced', { version: '1.0' }, `HTTP/1.0 200 OK\n${OURS}`],
  [
    'set replaces a header in its place, in any letter case',
    { set: { 'content-TYPE': 'a/b' } },
    `${OK}${TYPED}`,
  ],
  ['set adds others after ours', { set: { 'x-New': '1' } }, `${OK}${OURS}\nx-New: 1`],
  ['raw pairs are added unchanged', { raw: RAW }, `${OK}${OURS}\nRETRY-after: 1\nRetry-After: 2\nvary: *`],
  ['case changes our names only', { case: 'upper', set: { 'X-Kept': '1' } }, `${OK}${UPPER}\nX-Kept: 1`],
  ['informational responses come first', { interim: INTERIM }, `${HINTS}${OK}${OURS}`],
])('%s: %j', async ([, fault, expected]) => {
  const { text, end, sent } = await seen(head(fault))
  expect(text.replaceAll('\r\n', '\n')).toBe(`${expected}\n\n{"ok":true}`)
  expect([end, sent[0]?.bytes]).toEqual(['fin', text.length])
})

test('remove deletes every header with the name, even the Date that Node would add', async () => {
  const headers = ['X-A', 'x-a', 'Date'].map((name) => [name, '1'] as const)
  const { head: bytes } = await seen({ ...head({ remove: ['x-A', 'date'] }), headers })
  expect(bytes).not.toMatch(/x-a|date/i)
})

test('a name or value that Node refuses is written unchanged, and the connection ends', async () => {
  const { port } = await faultedServer(head({ raw: [['bad name', 'ünï \u0007 €']] }))
  const view = await overSocket(port, requestBytes({ path: '/', headers: { Connection: 'keep-alive' } }))
  expect(Buffer.from(view.text, 'latin1').toString()).toContain('\r\nbad name: ünï \u0007 €\r\n')
  expect(view.end).toBe('fin')
})

test('headers that contradict the framing are written unchanged', async () => {
  const twice = await seen(head({ raw: [['Content-Length', '99']] }))
  const none = await seen(head({ remove: ['content-length'] }))
  const wrong = await seen(head({ set: { 'Content-Length': '5' } }))
  const lengths = [twice, none, wrong].map((view) => view.head.match(/Content-Length: \d+/g))
  expect(lengths).toEqual([['Content-Length: 11', 'Content-Length: 99'], null, ['Content-Length: 5']])
  expect([none.body, wrong.body]).toEqual(['{"ok":true}', '{"ok":true}'])
})

test('a connection can be used for the next request after a changed head', async () => {
  const { port } = await faultedServer(head({ status: 429, case: 'lower', raw: [['Retry-After', '0']] }))
  const request = requestBytes({ path: '/', headers: { Connection: 'keep-alive' } })
  const { text, end } = await overSocket(port, [request, requestBytes({ path: '/' })])
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 429', 'HTTP/1.1 200'])
  expect(text).toMatch(/connection: keep-alive\r\nkeep-alive: timeout=65\r\n/)
  expect(end).toBe('fin')
})
