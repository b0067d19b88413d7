import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { anyText } from '../../../test/support/any-text.ts'
import { folder } from '../../../test/support/disk-emulator.ts'
import { fillingDisk } from '../../../test/support/filling-disk.ts'
import { Refusal } from '../../core/errors.ts'
import type { Commit, Row } from '../../core/state/commit.ts'
import { SANDBOX_TABLE } from '../../core/state/state.ts'
import { type Files, nodeFiles } from './files.ts'
import { JournalWriter } from './journal.ts'
import { commitLine, decodeLine, encodeLine, type JournalContents, readJournal } from './journal-format.ts'

const AT = '2026-03-01T12:00:00.000Z'

function commit(revision: number, id: string, text = ''): Commit {
  const after = { id, text } as Row
  return { revision, at: AT, changes: [{ table: 'notes', id, before: undefined, after }] }
}

function opened(files: Files = nodeFiles, onLost = (_: JournalWriter) => {}) {
  const path = join(folder(onTestFinished), 'sandbox.json.journal')
  const journal: JournalWriter = new JournalWriter({ files, path, onLost: () => onLost(journal) })
  journal.begin({ file: null, revision: 0 })
  onTestFinished(() => journal.close())
  return { journal, path }
}

function readBytes(bytes: Buffer): JournalContents {
  return readJournal({ ...nodeFiles, read: () => bytes }, 'sandbox.json.journal') as JournalContents
}

function revisions(contents: JournalContents | undefined): number[] | undefined {
  return contents?.commits.map((each) => each.commit.revision)
}

test('a line with any strings is decoded as it was encoded', () => {
  fc.assert(
    fc.property(fc.dictionary(anyText(), fc.json()), anyText(), (meta, id) => {
      const after = { id, meta } as Row
      const changes = [{ table: 'notes', id, before: undefined, after }]
      const line = commitLine({ revision: 1, at: AT, changes })
      const bytes = Buffer.from(encodeLine(line))
      expect(bytes.at(-1)).toBe(0x0a)
      expect(decodeLine(bytes.subarray(0, -1))).toEqual(JSON.parse(JSON.stringify(line)))
    }),
  )
})

test('rows of the sandbox table are logged completely, not as patches', () => {
  const [before, after] = ['x', 'y'].map((now) => ({ id: 'clock', now, rate: 1 }) as Row)
  const changes = [{ table: SANDBOX_TABLE, id: 'clock', before, after }]
  expect(commitLine({ revision: 1, at: AT, changes } as Commit).changes).toEqual([
    ['put', SANDBOX_TABLE, after],
  ])
})

test('D6 a journal that is cut at any byte is read as an exact prefix', () => {
  const { journal, path } = opened()
  for (let n = 1; n <= 5; n++) journal.append(commit(n, `note-${n}`))
  const whole = readFileSync(path)
  for (let size = 0; size < whole.length; size++) {
    const contents = readBytes(whole.subarray(0, size))
    const lines = whole.subarray(0, size).toString('latin1').split('\n').length - 1
    // A journal without its complete first line is damaged from byte 0.
    expect(contents.damage?.offset).toBe(lines === 0 ? 0 : undefined)
    expect(revisions(contents)).toEqual([1, 2, 3, 4, 5].slice(0, Math.max(0, lines - 1)))
    expect(contents.isTorn).toBe(size > 0 && whole[size - 1] !== 0x0a)
  }
})

test('D6 a journal with any bit flipped is read as an exact prefix, and the place of the damage is reported', () => {
  const { journal, path } = opened()
  for (let n = 1; n <= 2; n++) journal.append(commit(n, `note-${n}`))
  const whole = readFileSync(path)
  const starts = [0, ...[...whole.keys()].filter((at) => whole[at] === 0x0a).map((at) => at + 1)]
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const bytes = Buffer.from(whole)
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7))
    const contents = readBytes(bytes)
    const line = starts.filter((start) => start <= bit >> 3).length - 1
    expect(revisions(contents)).toEqual([1, 2].slice(0, Math.max(0, line - 1)))
    // The last newline may be the damaged byte: then the last line is torn.
    expect(contents.damage?.offset ?? contents.end).toBe(starts[line])
  }
})

test('a journal of an earlier process is continued after its last complete line', () => {
  const { journal, path } = opened()
  journal.append(commit(1, 'a'))
  journal.close()
  const { end } = readJournal(nodeFiles, path) as JournalContents
  writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('half a line')]))
  const next = new JournalWriter({ files: nodeFiles, path, onLost: () => {} })
  next.continue(end)
  next.append(commit(2, 'b'))
  next.name({ file: 'digest', revision: 2 })
  next.close()
  expect(readJournal(nodeFiles, path)).toMatchObject({
    known: [{ file: null }, { file: 'digest', revision: 2 }],
    commits: [{ commit: { revision: 1 } }, { commit: { revision: 2 } }],
    damage: undefined,
    isTorn: false,
  })
})

test('D3 a write that fails half way leaves no bytes, throws storage_unavailable, and the next one succeeds', () => {
  let space = Number.POSITIVE_INFINITY
  const full: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      const fits = Math.min(bytes.length, space, 7)
      if (fits === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      space -= fits
      return nodeFiles.write(file, bytes.subarray(0, fits), at)
    },
  }
  const { journal, path } = opened(full)
  journal.append(commit(1, 'a'))
  const before = statSync(path).size
  space = 20
  expect(() => journal.append(commit(2, 'b'))).toThrowError(
    expect.objectContaining({ code: 'storage_unavailable', message: expect.stringContaining('ENOSPC') }),
  )
  expect(statSync(path).size).toBe(before)
  space = Number.POSITIVE_INFINITY
  journal.append(commit(2, 'b'))
  expect(revisions(readJournal(nodeFiles, path))).toEqual([1, 2])
})

test('D3 if half a line cannot be cut off after a failure, the next write cuts it off', () => {
  let broken = false
  const failing: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      if (!broken) return nodeFiles.write(file, bytes, at)
      if (bytes.length < 20) throw new Error('EIO')
      return nodeFiles.write(file, bytes.subarray(0, 20), at)
    },
    truncate: (file, length) => {
      if (broken) throw new Error('EIO')
      nodeFiles.truncate(file, length)
    },
  }
  const { journal, path } = opened(failing)
  broken = true
  expect(() => journal.append(commit(1, 'a'))).toThrow(Refusal)
  expect(() => journal.append(commit(1, 'a'))).toThrow(Refusal)
  broken = false
  journal.append(commit(1, 'a'))
  expect(revisions(readJournal(nodeFiles, path))).toEqual([1])
})

test('lines that are held are one write, with the next line or at a flush', () => {
  const writes: number[] = []
  const counting: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      writes.push(bytes.toString().split('\n').length - 1)
      return nodeFiles.write(file, bytes, at)
    },
  }
  const { journal, path } = opened(counting)
  writes.length = 0
  journal.append(commit(1, 'a'), true)
  journal.append(commit(2, 'b'), true)
  expect([writes, revisions(readJournal(nodeFiles, path))]).toEqual([[], []])
  journal.append(commit(3, 'c'))
  journal.append(commit(4, 'd', 'ä'.repeat(100_000)), true)
  journal.flush()
  journal.flush()
  expect(writes).toEqual([3, 1])
  expect(revisions(readJournal(nodeFiles, path))).toEqual([1, 2, 3, 4])
})

test('lines whose write fails are not held any longer', () => {
  const disk = fillingDisk('write')
  const { journal, path } = opened(disk.files)
  journal.append(commit(1, 'a'), true)
  disk.isFull = true
  expect(() => journal.flush()).toThrow(Refusal)
  disk.isFull = false
  journal.append(commit(1, 'b'))
  const { commits } = readJournal(nodeFiles, path) ?? {}
  expect(commits?.map(({ commit: { changes } }) => changes[0]?.[2])).toEqual([{ id: 'b', text: '' }])
})

test('a lost journal is replaced before the first line that is held, not after it', () => {
  const lost: string[] = []
  const { journal, path } = opened({ ...nodeFiles, sizeAt: () => undefined }, (journal) => {
    lost.push('lost')
    journal.begin({ file: null, revision: 0 })
  })
  journal.append(commit(1, 'a'), true)
  journal.append(commit(2, 'b'), true)
  journal.flush()
  expect([lost, revisions(readJournal(nodeFiles, path))]).toEqual([['lost'], [1, 2]])
})

test('a value that cannot be written as JSON throws a TypeError and leaves no bytes', () => {
  const { journal, path } = opened()
  const circle: { self?: unknown } = {}
  circle.self = circle
  const after = { id: 'a', circle } as Row
  const size = statSync(path).size
  const changes = [{ table: 'notes', id: 'a', before: undefined, after }]
  expect(() => journal.append({ revision: 1, at: AT, changes })).toThrow(TypeError)
  expect(statSync(path).size).toBe(size)
})
