import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { folder, sandboxOptions, startingState } from '../../../test/support/disk-emulator.ts'
import { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Document } from '../../core/state/state.ts'
import { CheckpointWriter } from './checkpoint.ts'
import { digestOf, documentBytes, documentPieces } from './document-file.ts'
import { type Files, nodeFiles } from './files.ts'
import { JournalWriter } from './journal.ts'
import { OwnFile } from './own-file.ts'
import { readState } from './state-file.ts'

/** A writer of checkpoints, whose journal is open. */
async function stateFile(files: Files = nodeFiles) {
  const path = join(folder(onTestFinished), 'sandbox.json')
  const own = new OwnFile(files, path)
  const rescue = async (): Promise<void> => {}
  const options = { files, durability: 'process', rescue, onLost: () => {} } as const
  const journal = new JournalWriter({ ...options, path: `${path}.journal` })
  const sandbox = new Sandbox(sandboxOptions(), await startingState())
  const edits = { done: async () => {}, pending: false, dealtWith: 0 }
  const writer = new CheckpointWriter({ files, own, journal, sandbox, edits })
  onTestFinished(() => {
    journal.close()
    own.close()
  })
  const begin = (): void => journal.begin(0, undefined)
  return { path, own, journal, writer, edits, begin }
}

/** The readable JSON of a document, from its pieces. */
function readableJson(value: object): string {
  return `${[...documentPieces(value)].join('')}\n}`
}

function documentOf(value: object): Document {
  return { revision: 3, collections: {}, ...value } as unknown as Document
}

test('the pieces of a document form its indented JSON', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.array(fc.jsonValue(), { minLength: 60 }),
      (object, list) => {
        const value = {
          ...object,
          collections: { notes: [{ id: 'a', items: list }, object], empty: [], none: {} },
        }
        expect(JSON.stringify(JSON.parse(readableJson(value)))).toBe(JSON.stringify(value))
      },
    ),
  )
  const value = { collections: { notes: [{ id: 'a', tags: ['b'] }], empty: [] } }
  expect(readableJson(value)).toBe(JSON.stringify(value, null, 2))
})

test('without long arrays, the layout is that of JSON.stringify', () => {
  const record = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.constant({ text: 'x'.repeat(5_000) }),
  )
  fc.assert(
    fc.property(
      fc.array(record, { maxLength: 60 }),
      fc.array(record, { maxLength: 60 }),
      (notes, schedule) => {
        const value = { collections: { notes, none: [] }, schedule }
        expect(readableJson(value)).toBe(JSON.stringify(value, null, 2))
      },
    ),
  )
})

test('each item of a long array inside a record has one line', () => {
  const items = Array.from({ length: 100 }, (_, n) => ({ custom_id: `item-${n}`, file_id: 'file-1' }))
  const batch = { id: 'a', _emulator: { request: { items } } }
  const lines = readableJson({ collections: { batches: [batch] } }).split('\n')
  expect(lines).toHaveLength(items.length + 15)
  expect(lines).toContain('              {"custom_id":"item-99","file_id":"file-1"}')
})

test('fields that are undefined are left out, as by JSON.stringify', () => {
  const value = { a: undefined, b: [undefined, { c: undefined }], d: { e: undefined } }
  expect(readableJson(value)).toBe(JSON.stringify(value, null, 2))
})

test('no piece grows with the number of records, of items in a record, or of fields', () => {
  const items = Array.from({ length: 5000 }, (_, n) => ({ custom_id: `item-${n}` }))
  const nested = { id: 'c', _emulator: { request: { items } } }
  const value = { collections: { batches: [{ id: 'b', items }, nested, ...items] }, schedule: items }
  const longest = Math.max(...[...documentPieces(value)].map((piece) => piece.length))
  expect(longest).toBeLessThan(1_200)
})

test('a large record is never in one piece with others', () => {
  const short = Array.from({ length: 32 }, (_, n) => ({ id: `short-${n}` }))
  const fields = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`field-${n}`, n]))
  for (const large of ['x'.repeat(4_097), fields, { nested: fields }]) {
    const records = Array.from({ length: 16 }, (_, n) => ({ id: `large-${n}`, large }))
    const pieces = [...documentPieces({ collections: { notes: [...short, ...records] } })]
    for (const piece of pieces) expect(piece.match(/"(short|large)-/g)?.length ?? 0).toBeLessThanOrEqual(16)
    for (const piece of pieces.filter((each) => each.includes('"large-')))
      expect(piece.match(/"id"/g)).toHaveLength(1)
    expect(pieces.some((piece) => piece.match(/"short-/g)?.length === 16)).toBe(true)
  }
})

test('a piece ends after three milliseconds, and the bytes are the same', () => {
  let now = 0
  const document = documentOf({ list: Array.from({ length: 200 }, (_, n) => ({ n })) })
  const slow = [...documentBytes(document, () => now++)]
  const whole = [...documentBytes(document, () => 0)]
  expect(whole.length).toBeLessThan(4)
  expect(slow.length).toBeGreaterThan(50)
  expect(Buffer.concat(slow).equals(Buffer.concat(whole))).toBe(true)
})

test('X4 a file is read back as it was written, including `__proto__` and half characters', async () => {
  const { writer, path, own, begin } = await stateFile()
  begin()
  const value = documentOf(JSON.parse('{"__proto__": {"": "\\ud800"}, "constructor": ["\\u2028ä😀"]}'))
  await writer.write(value)
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(await writer.read()).toEqual(Object.assign(Object.create(null), value, { digest }))
  expect(Object.hasOwn((await writer.read()) as object, '__proto__')).toBe(true)
  const { sha256, isUnedited } = digestOf(readFileSync(path))
  expect([isUnedited, own.isKnown(sha256), own.checkpoint, own.news()]).toEqual([true, true, 3, undefined])
})

test('a checkpoint has mode 0600 and leaves no temporary file', async () => {
  const { writer, path } = await stateFile()
  await writer.checkpoint()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(path))).toEqual(['sandbox.json', 'sandbox.json.journal'])
})

test('a large document is written in small pieces, between which the event loop turns', async () => {
  const sizes: number[] = []
  const watched: Files = {
    ...nodeFiles,
    writeSoon: (file, bytes, at) => {
      sizes.push(bytes.length)
      return nodeFiles.writeSoon(file, bytes, at)
    },
  }
  const { writer, path, begin } = await stateFile(watched)
  begin()
  const notes = Array.from({ length: 20_000 }, (_, n) => ({ id: `note-${n}`, text: 'x'.repeat(200) }))
  let turns = 0
  let over = false
  const turn = (): void => {
    turns += 1
    if (!over) setImmediate(turn)
  }
  turn()
  await writer.write(documentOf({ collections: { notes } }))
  over = true
  expect(Math.max(...sizes)).toBeLessThan(70_000)
  expect(turns).toBeGreaterThan(sizes.length / 2)
  expect(JSON.parse(readFileSync(path, 'utf8')).collections.notes).toEqual(notes)
})

test('a record larger than any piece is written whole', async () => {
  const { writer, begin } = await stateFile()
  begin()
  const text = 'ä'.repeat(3_000_000)
  await writer.write(documentOf({ collections: { notes: [{ id: 'a', text }] } }))
  expect(await writer.read()).toMatchObject({ collections: { notes: [{ id: 'a', text }] } })
})

test.each([
  ['the write', { writeSoon: () => Promise.reject(new Error('ENOSPC')) }],
  ['the sync', { sync: () => Promise.reject(new Error('EIO')) }],
  [
    'the renaming',
    {
      rename: (from: string, to: string) => {
        if (to.endsWith('.json')) throw new Error('EACCES')
        nodeFiles.rename(from, to)
      },
    },
  ],
])('when %s fails, the old file stays and the new one is removed', async (_, broken) => {
  const { writer, path, own } = await stateFile({ ...nodeFiles, ...broken })
  writeFileSync(path, '{}')
  await expect(writer.checkpoint()).rejects.toThrow(/ENOSPC|EIO|EACCES/)
  expect(readFileSync(path, 'utf8')).toBe('{}')
  expect(readdirSync(dirname(path))).toEqual(['sandbox.json', 'sandbox.json.journal'])
  expect(own.checkpoint).toBeUndefined()
})

test('a checkpoint gives up rather than overwrite a file that is being edited', async () => {
  const { writer, path, edits } = await stateFile()
  writeFileSync(path, 'edited')
  edits.pending = true
  await expect(writer.checkpoint()).rejects.toThrow(`${path} is edited continuously`)
  expect(readFileSync(path, 'utf8')).toBe('edited')
  edits.pending = false
  await writer.checkpoint()
  expect(digestOf(readFileSync(path)).isUnedited).toBe(true)
})

test('the journal contains the digest of a checkpoint before and after it becomes the state file', async () => {
  const { writer, path } = await stateFile()
  await writer.checkpoint()
  const lines = readFileSync(`${path}.journal`, 'utf8').trim().split('\n')
  const { sha256 } = digestOf(readFileSync(path))
  const rows = lines.map((line) => JSON.parse(line.slice(9)))
  expect(rows.slice(1)).toEqual([{ next: sha256 }, { file: { sha256, checkpoint: true } }])
})

test('a syntax error is reported with line and column', () => {
  const { problem } = readState(Buffer.from('{\n  "a": 1,\n  "b": ,\n}'), 'sandbox.json')
  expect(problem).toMatchObject({ line: 3, message: 'sandbox.json:3:8: expected a value, found ","' })
})

test('bytes that are not UTF-8 are refused, not replaced', () => {
  const bytes = Buffer.concat([Buffer.from('{\n"ä": "'), Buffer.from([0xc3]), Buffer.from('"}')])
  expect(readState(bytes, 'sandbox.json').problem?.message).toBe('sandbox.json:2:8: this byte is not UTF-8')
})

test('a byte order mark, which some editors add, is ignored', () => {
  expect(readState(Buffer.from('\uFEFF{"revision": 1}'), 'sandbox.json').raw).toEqual({ revision: 1 })
})

test('a missing file is read as null', async () => {
  const { writer } = await stateFile()
  expect(await writer.read()).toBeNull()
})
