import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { decodedText, readTextFile } from './text.ts'

const read = (bytes: Buffer) =>
  decodedText(bytes, (problem) => {
    throw new Error(problem)
  })

const utf16 = Buffer.from('{"a": 1}', 'utf16le')

test('a byte order mark is not part of the text', () => {
  expect(read(Buffer.from('\uFEFF{"a": "\u00e9\uFEFF"}'))).toBe('{"a": "\u00e9\uFEFF"}')
})

test.each<[Buffer, string]>([
  [Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), 'is UTF-16, not UTF-8 text; save it as UTF-8'],
  [Buffer.concat([Buffer.from([0xfe, 0xff]), utf16.swap16()]), 'is UTF-16, not UTF-8 text; save it as UTF-8'],
  [Buffer.from('[1]', 'utf16le'), 'is UTF-16, not UTF-8 text; save it as UTF-8'],
  [Buffer.from([0xff, 0xfe, 0, 0, 0x7b, 0, 0, 0]), 'is UTF-16, not UTF-8 text; save it as UTF-8'],
  [Buffer.from([0x1f, 0x8b, 8, 0]), 'is compressed (gzip, zstd, xz or bzip2); unpack it first'],
  [Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 'is compressed (gzip, zstd, xz or bzip2); unpack it first'],
  [Buffer.from('PK\x03\x04rest'), 'is a zip archive; unpack it first'],
  [Buffer.from('{\n"a": "\xe9"}', 'latin1'), 'has bytes in line 2 that are not UTF-8; save it as UTF-8'],
])('%# bytes that are no UTF-8 text are named: %s', (bytes, message) => {
  expect(() => read(bytes)).toThrow(message)
})

test('any text in UTF-8 is read unchanged', () => {
  for (const text of ['', '\n', '{}\r\n', '\u{1f600}', 'PK', 'BZh', '\u00ff\u00fe'])
    expect(read(Buffer.from(text))).toBe(text)
})

test('a file of more than 256 MiB is refused before it is read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'large-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'large.json')
  writeFileSync(file, '{}')
  expect(readTextFile(file)).toBe('{}')
  // Without blocks on the disk.
  truncateSync(file, 3_000_000_000)
  expect(() => readTextFile(file)).toThrow(
    'has 3000000000 bytes, more than the 268435456 that are read; split it',
  )
})
