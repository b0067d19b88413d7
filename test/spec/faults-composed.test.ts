import { expect, test } from 'vitest'
import type { Action } from '../../src/core/faults/primitive.ts'
import { KEYS } from '../support/base-state.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { bearer, overSocket, requestBytes } from '../support/wire-client.ts'

const LIST = { operation: 'data-views.list' }

/** Arms rules as users do, and returns the bytes of the next response. */
async function bytesUnder(emulator: TestEmulator, ...rules: readonly object[]): Promise<string> {
  const { port } = emulator.emulator
  const { status, text } = await emulator.control('POST', '/faults', rules)
  expect(status, text).toBe(201)
  const headers = { Host: `127.0.0.1:${port}`, ...bearer(KEYS.KU) }
  return (await overSocket(port, requestBytes({ path: '/v1/data-views', headers }))).text
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

test.for<[what: string, actions: Action[], bytes: RegExp]>([
  [
    'HTTP/1.0, and a body that ends with the connection',
    [{ head: { version: '1.0', reason: 'Fine' } }, { frame: { mode: 'close' } }],
    /^HTTP\/1\.0 200 Fine\r\n(?![\s\S]*content-length)[\s\S]*\{"object":"list".*\}$/i,
  ],
  [
    'a 204 with a body',
    [{ head: { status: 204 } }, { frame: { mode: 'length' } }],
    /^HTTP\/1\.1 204 [\s\S]*"list"/,
  ],
  [
    'a number that no double can represent',
    [{ body: { raw_number: { pointer: '/object', digits: '9007199254740993' } } }],
    /\{"object":9007199254740993,/,
  ],
  ['Brotli without Accept-Encoding', [{ body: { encode: 'br' } }], /content-encoding: br/i],
  [
    'bytes after the message',
    [{ frame: { tail_b64: base64('HTTP/1.1 500 Oops') } }],
    /\}HTTP\/1\.1 500 Oops$/,
  ],
  ['bytes that are not HTTP', [{ raw: { base64: base64('SSH-2.0-adapter\r\n') } }], /^SSH-2\.0-adapter\r\n$/],
])('a rule can send %s', async ([, actions, bytes]) => {
  expect(await bytesUnder(await testEmulator(), { match: LIST, do: actions })).toMatch(bytes)
})

test('the actions of two rules apply to one response if the first says then: continue', async () => {
  const first = { match: LIST, priority: 5, then: 'continue', do: [{ head: { set: { 'X-First': 'yes' } } }] }
  const second = { match: LIST, do: [{ body: { patch: { second: true } } }] }
  const third = { match: LIST, do: [{ head: { set: { 'X-Third': 'yes' } } }] }
  const text = await bytesUnder(await testEmulator(), first, second, third)
  expect(text).toMatch(/X-First: yes[\s\S]*"second":true/)
  expect(text).not.toContain('X-Third')
})
