import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../../../test/support/disk-world.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { Commit, Row } from '../../kernel/state/commit.ts'
import { WORLD } from '../../kernel/state/state.ts'
import { type Files, nodeFiles } from './files.ts'
import { Generation } from './generation.ts'
import { Log } from './log.ts'
import { commitLine, decodeLine, encodeLine } from './log-format.ts'
import { follow, type GenerationContents, readGeneration } from './log-reader.ts'

const AT = '2026-03-01T12:00:00.000Z'

function commit(revision: number, id: string, text = ''): Commit {
  const after = { id, text } as Row
  return { revision, at: AT, changes: [{ table: 'notes', id, before: undefined, after }] }
}

function opened(files: Files = nodeFiles, rescue: () => Promise<void> = async () => {}) {
  const path = join(folder(onTestFinished), 'world.json.log')
  const log = new Log(files, path, 'power', rescue)
  log.begin(0, undefined)
  onTestFinished(() => log.close())
  return { log, path }
}

/** Reads these bytes as the file of a log. */
function readBytes(bytes: Buffer): GenerationContents {
  const files: Files = {
    ...nodeFiles,
    open: () => 0,
    close: () => {},
    readInto: (_, buffer, at) => bytes.copy(buffer, 0, at),
  }
  return readGeneration(files, 'world.json.log')
}

function revisions({ commits }: Pick<GenerationContents, 'commits'>): number[] {
  return commits.map((each) => each.commit.revision)
}

test('a line comes back as it was written, whatever strings are in it', () => {
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

test('a small line does not disturb a large one', () => {
  const large = Buffer.from(encodeLine(commitLine(commit(1, 'a', 'ä'.repeat(100_000)))))
  expect(decodeLine(large.subarray(0, -1))).toEqual(commitLine(commit(1, 'a', 'ä'.repeat(100_000))))
})

test('rows of which a world has one are logged whole', () => {
  const [before, after] = [{ id: 'clock', now: AT, rate: 1 } as Row, { id: 'clock', now: AT, rate: 2 } as Row]
  const change = { table: WORLD, id: 'clock', before, after }
  expect(commitLine({ revision: 1, at: AT, changes: [change] }).changes).toEqual([['put', WORLD, after]])
})

test('D6 a log that is cut at any byte is read as an exact prefix', () => {
  const { log, path } = opened()
  for (let n = 1; n <= 5; n++) log.append(commit(n, `note-${n}`, 'é\n"'))
  const whole = readFileSync(path)
  for (let size = 0; size <= whole.length; size++) {
    const contents = readBytes(whole.subarray(0, size))
    const lines = whole.subarray(0, size).toString('latin1').split('\n').length - 1
    expect(contents.corrupt).toBeUndefined()
    expect(revisions(contents)).toEqual([1, 2, 3, 4, 5].slice(0, Math.max(0, lines - 1)))
    expect(contents.torn === undefined).toBe(size === 0 || whole[size - 1] === 0x0a)
  }
})

test('D6 a log with any bit flipped is read as an exact prefix, and the damage is named', () => {
  const { log, path } = opened()
  for (let n = 1; n <= 2; n++) log.append(commit(n, `note-${n}`))
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

test('a log is not followed over a missing commit, and the place is named', () => {
  const { log, path } = opened()
  for (const revision of [1, 2, 4, 5]) log.append(commit(revision, 'a'))
  const { commits, corrupt } = follow([readGeneration(nodeFiles, path)], 0)
  expect(revisions({ commits })).toEqual([1, 2])
  expect(corrupt?.message).toContain('revision 4 follows revision 2')
  expect(readFileSync(path).toString('latin1', corrupt?.offset).slice(9, 23)).toBe('{"revision":4,')
})

test('a log is not followed from a generation that begins too late', () => {
  const path = join(folder(onTestFinished), 'world.json.log')
  const log = new Log(nodeFiles, path, 'process', async () => {})
  onTestFinished(() => log.close())
  log.begin(7, undefined)
  const empty = follow([readGeneration(nodeFiles, path)], 5)
  expect([empty.commits, empty.corrupt?.offset]).toEqual([[], 0])
  log.append(commit(8, 'a'))
  expect(follow([readGeneration(nodeFiles, path)], 5).corrupt?.message).toContain(
    'revision 8 follows revision 5',
  )
  expect(revisions(follow([readGeneration(nodeFiles, path)], 7))).toEqual([8])
})

test('commits that the checkpoint contains are skipped, in every generation', () => {
  const { log, path } = opened()
  log.append(commit(1, 'a'))
  log.append(commit(2, 'a'))
  log.begin(2, { revision: 0, sha256: 'x' })
  log.append(commit(3, 'a'))
  const generations = [`${path}.1`, path].map((each) => readGeneration(nodeFiles, each))
  expect(revisions(follow(generations, 1))).toEqual([2, 3])
  expect(revisions(follow(generations, 2))).toEqual([3])
  expect(generations[1]?.digests).toEqual(['x'])
  log.dropEarlier()
  expect(revisions(readGeneration(nodeFiles, path))).toEqual([3])
})

test('D3 a write that fails half way leaves nothing, is refused as storage_unavailable, and the next one succeeds', () => {
  let room = Number.POSITIVE_INFINITY
  const full: Files = {
    ...nodeFiles,
    write: (file, bytes, at) => {
      const fits = Math.min(bytes.length, room, 7)
      if (fits === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      room -= fits
      return nodeFiles.write(file, bytes.subarray(0, fits), at)
    },
  }
  const { log, path } = opened(full)
  log.append(commit(1, 'a'))
  const before = statSync(path).size
  room = 20
  expect(() => log.append(commit(2, 'b'))).toThrowError(
    expect.objectContaining({ code: 'storage_unavailable', message: expect.stringContaining('ENOSPC') }),
  )
  expect(statSync(path).size).toBe(before)
  room = Number.POSITIVE_INFINITY
  log.append(commit(2, 'b'))
  expect(revisions(readGeneration(nodeFiles, path))).toEqual([1, 2])
})

test('D3 when even cutting off half a line fails, the next write cuts it', () => {
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
  const { log, path } = opened(failing)
  broken = true
  expect(() => log.append(commit(1, 'a'))).toThrow(Refusal)
  expect(() => log.append(commit(1, 'a'))).toThrow(Refusal)
  broken = false
  log.append(commit(1, 'a'))
  expect(revisions(readGeneration(nodeFiles, path))).toEqual([1])
})

test('what cannot be written as JSON is no failure of the disk, and leaves no trace', () => {
  const { log, path } = opened()
  const circle: { self?: unknown } = {}
  circle.self = circle
  const bad = {
    revision: 1,
    at: AT,
    changes: [{ table: 'notes', id: 'a', before: undefined, after: { id: 'a', circle } }],
  }
  const size = statSync(path).size
  expect(() => log.append(bad)).toThrow(TypeError)
  expect(statSync(path).size).toBe(size)
})

test('one sync at a time serves everybody who has written before it began', async () => {
  const begun: { size: number; end: () => void }[] = []
  const slow: Files = {
    ...nodeFiles,
    datasync: (file) => new Promise((end) => begun.push({ size: nodeFiles.statOf(file).size, end })),
  }
  const { log, path } = opened(slow)
  const done: number[] = []
  const write = (n: number) => {
    log.append(commit(n, 'a'))
    log.durable()?.then(() => done.push(n))
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

test('never is more than one sync of a file under way', async () => {
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
  const path = join(folder(onTestFinished), 'world.json.log')
  const generation = new Generation(watched, path, path)
  onTestFinished(() => generation.close())
  const write = (): Promise<void> => {
    generation.write(encodeLine({ base: { revision: 1, sha256: 'x' } }))
    return generation.sync()
  }
  const first = write().then(write)
  await Promise.all([first, write(), write()])
  expect([most, syncs]).toEqual([1, 2])
})

test('what was appended before a new generation is synced, too', async () => {
  const synced = new Set<number>()
  const watched: Files = {
    ...nodeFiles,
    datasync: async (file) => {
      synced.add(nodeFiles.statOf(file).size)
    },
  }
  const { log, path } = opened(watched)
  log.append(commit(1, 'a', 'before'))
  log.begin(1, undefined)
  log.append(commit(2, 'a', 'after it'))
  await log.durable()
  expect(synced).toEqual(new Set([`${path}.1`, path].map((each) => statSync(each).size)))
})

test('a failed sync is never tried again: a checkpoint makes durable what it had to', async () => {
  const syncs: number[] = []
  let rescues = 0
  const failing: Files = {
    ...nodeFiles,
    datasync: async (file) => {
      syncs.push(file)
      throw new Error('EIO')
    },
  }
  const { log } = opened(failing, async () => {
    rescues += 1
  })
  log.append(commit(1, 'a'))
  await log.durable()
  await log.durable()
  expect([syncs.length, rescues]).toEqual([1, 2])
})

test('when the checkpoint fails as well, the writer is told', async () => {
  const failing: Files = { ...nodeFiles, datasync: () => Promise.reject(new Error('EIO: sync')) }
  const { log } = opened(failing, () => Promise.reject(new Error('ENOSPC: checkpoint')))
  log.append(commit(1, 'a'))
  await expect(log.durable()).rejects.toThrowError(
    expect.objectContaining({ code: 'storage_unavailable', message: expect.stringMatching(/EIO.*ENOSPC/) }),
  )
})

test('durability of the process alone promises no sync', () => {
  const path = join(folder(onTestFinished), 'world.json.log')
  const log = new Log(nodeFiles, path, 'process', async () => {})
  log.begin(0, undefined)
  expect(log.durable()).toBeUndefined()
  log.close()
})

test('a generation that follows a failed checkpoint is gone on with, and all of it can be read', () => {
  const { log, path } = opened()
  log.append(commit(1, 'a'))
  log.begin(1, undefined)
  log.append(commit(2, 'a'))
  log.begin(2, undefined)
  log.append(commit(3, 'a'))
  const generations = [`${path}.1`, path].map((each) => readGeneration(nodeFiles, each))
  expect(revisions(follow(generations, 0))).toEqual([1, 2, 3])
})

test('a log that somebody has removed is begun anew by the next checkpoint', () => {
  const { log, path } = opened()
  log.append(commit(1, 'a'))
  copyFileSync(path, `${path}-copy`)
  nodeFiles.remove(path)
  log.begin(1, undefined)
  log.append(commit(2, 'a'))
  expect(revisions(readGeneration(nodeFiles, path))).toEqual([2])
})
