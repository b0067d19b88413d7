import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { Refusal } from '../../core/errors.ts'
import type { Commit, Row } from '../../core/state/commit.ts'
import { SANDBOX_TABLE } from '../../core/state/state.ts'
import { type Files, nodeFiles } from './files.ts'
import { Generation, JournalWriter } from './journal.ts'
import {
  commitLine,
  commitsAfter,
  decodeLine,
  encodeLine,
  type GenerationContents,
  readGeneration,
} from './journal-format.ts'
import { earlierGenerations } from './names.ts'

const AT = '2026-03-01T12:00:00.000Z'

function commit(revision: number, id: string, text = ''): Commit {
  const after = { id, text } as Row
  return { revision, at: AT, changes: [{ table: 'notes', id, before: undefined, after }] }
}

function opened(files: Files = nodeFiles, rescue: () => Promise<void> = async () => {}) {
  const path = join(folder(onTestFinished), 'sandbox.json.journal')
  const journal = new JournalWriter({ files, path, durability: 'power', rescue, onLost: () => {} })
  journal.begin(0, undefined)
  onTestFinished(() => journal.close())
  return { journal, path }
}

/** A journal with the durability `process`, which needs no sync. */
function inProcess(path: string): JournalWriter {
  const options = { files: nodeFiles, path, rescue: async () => {}, onLost: () => {} }
  return new JournalWriter({ ...options, durability: 'process' })
}

/** Reads these bytes as the file of a journal. */
function readBytes(bytes: Buffer): GenerationContents {
  const files: Files = {
    ...nodeFiles,
    open: () => 0,
    close: () => {},
    readInto: (_, buffer, at) => bytes.copy(buffer, 0, at),
  }
  return readGeneration(files, 'sandbox.json.journal')
}

function revisions({ commits }: Pick<GenerationContents, 'commits'>): number[] {
  return commits.map((each) => each.commit.revision)
}

test('a line with any strings is decoded as it was encoded', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.json()),
      fc.string({ unit: 'binary' }),
      (meta, id) => {
        const line = commitLine({
          revision: 1,
          at: AT,
          changes: [{ table: 'notes', id, before: undefined, after: { id, meta } as Row }],
        })
        const bytes = Buffer.from(encodeLine(line))
        expect(bytes.indexOf('\n')).toBe(bytes.length - 1)
        expect(decodeLine(bytes.subarray(0, -1))).toEqual(JSON.parse(JSON.stringify(line)))
      },
    ),
  )
})

test('a line that is larger than the reused buffer is encoded correctly', () => {
  const large = Buffer.from(encodeLine(commitLine(commit(1, 'a', 'ä'.repeat(100_000)))))
  expect(decodeLine(large.subarray(0, -1))).toEqual(commitLine(commit(1, 'a', 'ä'.repeat(100_000))))
})

test('rows of the sandbox table are logged completely, not as patches', () => {
  const [before, after] = [{ id: 'clock', now: AT, rate: 1 } as Row, { id: 'clock', now: AT, rate: 2 } as Row]
  const change = { table: SANDBOX_TABLE, id: 'clock', before, after }
  expect(commitLine({ revision: 1, at: AT, changes: [change] }).changes).toEqual([
    ['put', SANDBOX_TABLE, after],
  ])
})

test('D6 a journal that is cut at any byte is read as an exact prefix', () => {
  const { journal, path } = opened()
  for (let n = 1; n <= 5; n++) journal.append(commit(n, `note-${n}`, 'é\n"'))
  const whole = readFileSync(path)
  for (let size = 0; size <= whole.length; size++) {
    const contents = readBytes(whole.subarray(0, size))
    const lines = whole.subarray(0, size).toString('latin1').split('\n').length - 1
    // A journal without its complete first line is damaged from byte 0.
    expect(contents.corrupt?.offset).toBe(lines === 0 ? 0 : undefined)
    expect(revisions(contents)).toEqual([1, 2, 3, 4, 5].slice(0, Math.max(0, lines - 1)))
    expect(contents.torn === undefined).toBe(lines === 0 || whole[size - 1] === 0x0a)
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
    expect(contents.corrupt?.offset ?? contents.torn).toBe(starts[line])
  }
})

test('the commits of a journal end before a missing one, and its place is reported', () => {
  const { journal, path } = opened()
  for (const revision of [1, 2, 4, 5]) journal.append(commit(revision, 'a'))
  const { commits, corrupt } = commitsAfter([readGeneration(nodeFiles, path)], 0)
  expect(revisions({ commits })).toEqual([1, 2])
  expect(corrupt?.message).toContain('revision 4 follows revision 2')
  expect(readFileSync(path).toString('latin1', corrupt?.offset).slice(9, 23)).toBe('{"revision":4,')
})

test('a generation that begins too late is not used', () => {
  const path = join(folder(onTestFinished), 'sandbox.json.journal')
  const journal = inProcess(path)
  onTestFinished(() => journal.close())
  journal.begin(7, undefined)
  const empty = commitsAfter([readGeneration(nodeFiles, path)], 5)
  expect([empty.commits, empty.corrupt?.offset]).toEqual([[], 0])
  journal.append(commit(8, 'a'))
  expect(commitsAfter([readGeneration(nodeFiles, path)], 5).corrupt?.message).toContain(
    'revision 8 follows revision 5',
  )
  expect(revisions(commitsAfter([readGeneration(nodeFiles, path)], 7))).toEqual([8])
})

test('commits that the checkpoint contains are skipped, in every generation', () => {
  const { journal, path } = opened()
  journal.append(commit(1, 'a'))
  journal.append(commit(2, 'a'))
  journal.checkpointed('x')
  journal.begin(2, 0)
  journal.append(commit(3, 'a'))
  const generations = [`${path}.0`, path].map((each) => readGeneration(nodeFiles, each))
  expect(revisions(commitsAfter(generations, 1))).toEqual([2, 3])
  expect(revisions(commitsAfter(generations, 2))).toEqual([3])
  expect(generations.map(({ file }) => file)).toEqual(Array(2).fill({ sha256: 'x', checkpoint: true }))
  journal.removeBefore(1)
  expect(earlierGenerations(nodeFiles, path)).toEqual([`${path}.0`])
  journal.removeBefore(2)
  expect(earlierGenerations(nodeFiles, path)).toEqual([])
  expect(revisions(readGeneration(nodeFiles, path))).toEqual([3])
})

test('D3 a write that fails half way leaves no bytes, throws storage_unavailable, and the next one succeeds', () => {
  let resource = Number.POSITIVE_INFINITY
  const full: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      const fits = Math.min(bytes.length, resource, 7)
      if (fits === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      resource -= fits
      return nodeFiles.write(file, bytes.subarray(0, fits), at)
    },
  }
  const { journal, path } = opened(full)
  journal.append(commit(1, 'a'))
  const before = statSync(path).size
  resource = 20
  expect(() => journal.append(commit(2, 'b'))).toThrowError(
    expect.objectContaining({ code: 'storage_unavailable', message: expect.stringContaining('ENOSPC') }),
  )
  expect(statSync(path).size).toBe(before)
  resource = Number.POSITIVE_INFINITY
  journal.append(commit(2, 'b'))
  expect(revisions(readGeneration(nodeFiles, path))).toEqual([1, 2])
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
  expect(revisions(readGeneration(nodeFiles, path))).toEqual([1])
})

test('a value that cannot be written as JSON throws a TypeError and leaves no bytes', () => {
  const { journal, path } = opened()
  const circle: { self?: unknown } = {}
  circle.self = circle
  const bad = {
    revision: 1,
    at: AT,
    changes: [{ table: 'notes', id: 'a', before: undefined, after: { id: 'a', circle } }],
  }
  const size = statSync(path).size
  expect(() => journal.append(bad)).toThrow(TypeError)
  expect(statSync(path).size).toBe(size)
})

test('one sync serves all writes from before it began', async () => {
  const begun: { size: number; end: () => void }[] = []
  const slow: Files = {
    ...nodeFiles,
    datasync: (file) => new Promise((end) => begun.push({ size: nodeFiles.statOf(file).size, end })),
  }
  const { journal, path } = opened(slow)
  const done: number[] = []
  const write = (n: number) => {
    journal.append(commit(n, 'a'))
    journal.durable()?.then(() => done.push(n))
  }
  write(1)
  const first = statSync(path).size
  write(2)
  write(3)
  const all = statSync(path).size
  expect(begun.map(({ size }) => size)).toEqual([first])
  begun[0]?.end()
  await expect.poll(() => begun.length).toBe(2)
  expect(done).toEqual([1])
  expect(begun[1]?.size).toBe(all)
  begun[1]?.end()
  await expect.poll(() => done).toEqual([1, 2, 3])
})

test('at most one sync of a file is in progress', async () => {
  let [running, most, syncs] = [0, 0, 0]
  const watched: Files = {
    ...nodeFiles,
    datasync: async () => {
      running += 1
      syncs += 1
      most = Math.max(most, running)
      await new Promise((next) => setImmediate(next))
      running -= 1
    },
  }
  const path = join(folder(onTestFinished), 'sandbox.json.journal')
  const generation = new Generation(watched, path, path)
  onTestFinished(() => generation.close())
  const write = (): Promise<void> => {
    generation.write(encodeLine({ next: 'x' }))
    return generation.sync()
  }
  const first = write().then(write)
  await Promise.all([first, write(), write()])
  expect([most, syncs]).toEqual([1, 2])
})

test('lines from before a new generation are synced too', async () => {
  const synced = new Set<number>()
  const watched: Files = {
    ...nodeFiles,
    datasync: async (file) => {
      synced.add(nodeFiles.statOf(file).size)
    },
  }
  const { journal, path } = opened(watched)
  journal.append(commit(1, 'a', 'before'))
  journal.begin(1, 0)
  journal.append(commit(2, 'a', 'after it'))
  await journal.durable()
  expect(synced).toEqual(new Set([`${path}.0`, path].map((each) => statSync(each).size)))
})

test('a failed sync is never repeated; a checkpoint makes the commits durable instead', async () => {
  const syncs: number[] = []
  let rescues = 0
  const failing: Files = {
    ...nodeFiles,
    datasync: async (file) => {
      syncs.push(file)
      throw new Error('EIO')
    },
  }
  const { journal } = opened(failing, async () => {
    rescues += 1
  })
  journal.append(commit(1, 'a'))
  await journal.durable()
  await journal.durable()
  expect([syncs.length, rescues]).toEqual([1, 2])
})

test('durable() rejects if both the sync and the checkpoint fail', async () => {
  const failing: Files = { ...nodeFiles, datasync: () => Promise.reject(new Error('EIO: sync')) }
  const { journal } = opened(failing, () => Promise.reject(new Error('ENOSPC: checkpoint')))
  journal.append(commit(1, 'a'))
  await expect(journal.durable()).rejects.toThrowError(
    expect.objectContaining({ code: 'storage_unavailable', message: expect.stringMatching(/EIO.*ENOSPC/) }),
  )
})

test('the durability "process" needs no sync', () => {
  const path = join(folder(onTestFinished), 'sandbox.json.journal')
  const journal = inProcess(path)
  journal.begin(0, undefined)
  expect(journal.durable()).toBeUndefined()
  journal.close()
})

test('a generation after a failed checkpoint is continued, and all its commits can be read', () => {
  const { journal, path } = opened()
  journal.append(commit(1, 'a'))
  journal.begin(1, 0)
  journal.append(commit(2, 'a'))
  journal.begin(2, 0)
  journal.append(commit(3, 'a'))
  const generations = [`${path}.0`, path].map((each) => readGeneration(nodeFiles, each))
  expect(revisions(commitsAfter(generations, 0))).toEqual([1, 2, 3])
})

test('a removed journal is created again by the next checkpoint', () => {
  const { journal, path } = opened()
  journal.append(commit(1, 'a'))
  copyFileSync(path, `${path}-copy`)
  nodeFiles.remove(path)
  journal.begin(1, undefined)
  journal.append(commit(2, 'a'))
  expect(revisions(readGeneration(nodeFiles, path))).toEqual([2])
})
