import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../../../test/support/disk-world.ts'
import type { Document } from '../../kernel/state/state.ts'
import { type Placing, StateFileAdapter, sha256, type Written } from './adapter.ts'
import { type Files, nodeFiles } from './files.ts'
import { prettyPieces } from './pretty.ts'

function stateFile(files: Files = nodeFiles, placing: Partial<Placing> = {}) {
  const path = join(folder(onTestFinished), 'world.json')
  const written: Written[] = []
  const adapter = new StateFileAdapter(files, path, {
    prepare: async () => {},
    check: () => {},
    placed: (each) => {
      written.push(each)
      nodeFiles.close(each.file)
    },
    ...placing,
  })
  return { path, adapter, written }
}

function documentOf(value: object): Document {
  return { revision: 3, ...value } as unknown as Document
}

test('the pieces of a document are together what JSON.stringify would write', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.array(fc.jsonValue(), { minLength: 60 }),
      (object, list) => {
        const value = {
          ...object,
          collections: { notes: [{ id: 'a', items: list }, object], empty: [], none: {} },
        }
        expect([...prettyPieces(value)].join('')).toBe(`${JSON.stringify(value, null, 2)}\n`)
      },
    ),
  )
})

test('members without a value are left out, as JSON.stringify does', () => {
  const value = { a: undefined, b: [undefined, { c: undefined }], d: { e: undefined } }
  expect([...prettyPieces(value)].join('')).toBe(`${JSON.stringify(value, null, 2)}\n`)
})

test('no piece grows with the number of records, of items in a record, or of members', () => {
  const items = Array.from({ length: 5000 }, (_, n) => ({ custom_id: `item-${n}` }))
  const value = { collections: { batches: [{ id: 'b', items }, ...items] }, schedule: items }
  const longest = Math.max(...[...prettyPieces(value)].map((piece) => piece.length))
  expect(longest).toBeLessThan(200)
})

test('X4 a file comes back as it was written, `__proto__` and half characters included', async () => {
  const { adapter, path, written } = stateFile()
  const value = documentOf(JSON.parse('{"__proto__": {"": "\\ud800"}, "constructor": ["\\u2028ä😀"]}'))
  await adapter.write(value)
  expect(await adapter.read()).toEqual(value)
  expect(Object.hasOwn((await adapter.read()) as object, '__proto__')).toBe(true)
  expect(adapter.sha256).toBe(sha256(readFileSync(path)))
  expect(written).toMatchObject([{ revision: 3, sha256: adapter.sha256, stat: nodeFiles.stat(path) }])
})

test('the file has mode 0600 and nothing else is left behind', async () => {
  const { adapter, path } = stateFile()
  await adapter.write(documentOf({}))
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(path))).toEqual(['world.json'])
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
  const { adapter, path } = stateFile(watched)
  const notes = Array.from({ length: 20_000 }, (_, n) => ({ id: `note-${n}`, text: 'x'.repeat(200) }))
  let turns = 0
  let over = false
  const turn = (): void => {
    turns += 1
    if (!over) setImmediate(turn)
  }
  turn()
  await adapter.write(documentOf({ collections: { notes } }))
  over = true
  expect(Math.max(...sizes)).toBeLessThan(70_000)
  expect(turns).toBeGreaterThan(sizes.length / 2)
  expect(JSON.parse(readFileSync(path, 'utf8')).collections.notes).toEqual(notes)
})

test('a record larger than any piece is written whole', async () => {
  const { adapter } = stateFile()
  const text = 'ä'.repeat(3_000_000)
  await adapter.write(documentOf({ collections: { notes: [{ id: 'a', text }] } }))
  expect(await adapter.read()).toMatchObject({ collections: { notes: [{ id: 'a', text }] } })
})

test.each([
  ['the write', { writeSoon: () => Promise.reject(new Error('ENOSPC')) }],
  ['the sync', { sync: () => Promise.reject(new Error('EIO')) }],
  [
    'the renaming',
    {
      rename: () => {
        throw new Error('EACCES')
      },
    },
  ],
])('when %s fails, the old file stays and the new one is removed', async (_, broken) => {
  const { adapter, path, written } = stateFile({ ...nodeFiles, ...broken })
  writeFileSync(path, '{}')
  await expect(adapter.write(documentOf({}))).rejects.toThrow(/ENOSPC|EIO|EACCES/)
  expect(readFileSync(path, 'utf8')).toBe('{}')
  expect(readdirSync(dirname(path))).toEqual(['world.json'])
  expect(written).toEqual([])
})

test('the old file stays when the check before the renaming objects', async () => {
  const order: string[] = []
  const { adapter, path } = stateFile(nodeFiles, {
    prepare: async (revision, digest) => {
      order.push(`prepare ${revision} ${digest.length}`)
    },
    check: () => {
      order.push('check')
      throw new Error('edited')
    },
  })
  await expect(adapter.write(documentOf({}))).rejects.toThrow('edited')
  expect(order).toEqual(['prepare 3 64', 'check'])
  expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined()
})

test('what is wrong with a file is named with line and column', async () => {
  const { adapter, path } = stateFile()
  writeFileSync(path, '{\n  "a": 1,\n  "b": ,\n}')
  await expect(adapter.read()).rejects.toThrowError(
    expect.objectContaining({
      line: 3,
      message: expect.stringContaining(`${path}:3:8: expected a value, found ","`),
    }),
  )
})

test('bytes that are no UTF-8 are refused and not replaced', async () => {
  const { adapter, path } = stateFile()
  writeFileSync(path, Buffer.concat([Buffer.from('{\n"ä": "'), Buffer.from([0xc3]), Buffer.from('"}')]))
  await expect(adapter.read()).rejects.toThrow(`${path}:2:8: this byte is not UTF-8`)
})

test('a byte order mark, which some editors add, is no part of the JSON', async () => {
  const { adapter, path } = stateFile()
  writeFileSync(path, '\uFEFF{"revision": 1}')
  expect(await adapter.read()).toEqual({ revision: 1 })
})

test('a file that is not there is null', async () => {
  expect(await stateFile().adapter.read()).toBeNull()
})
