import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Files about operations with tests that use a socket in every transport, and what those tests need of it. */
const ON_SOCKETS: Readonly<Record<string, string>> = {
  'batch-results.test.ts': 'one client stops reading in the middle of a response and disconnects',
  'problem-instance.test.ts':
    'paths that a Request encodes or cuts off: braces, a single percent sign, a fragment',
  'transport.test.ts':
    'bytes that no client sends: repeated headers, a missing Host, transfer codings, absolute URLs',
}

test('all other tests about operations send every request through the transport', () => {
  const folder = 'test/spec/operations'
  const direct = readdirSync(folder).filter((file) =>
    /from 'node:(?:net|http)'|wire-client|(?<![.\w])fetch\(/.test(readFileSync(`${folder}/${file}`, 'utf8')),
  )
  expect(direct.sort()).toEqual(Object.keys(ON_SOCKETS))
})
