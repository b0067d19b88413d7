import fs from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { put, startingState, texts } from '../../../test/support/disk-emulator.ts'
import { fillingDisk } from '../../../test/support/filling-disk.ts'
import { shelved, snapshotDirectory } from '../../../test/support/snapshot-store.ts'
import { MAX_SNAPSHOTS } from '../../core/sandboxes/snapshots.ts'
import { type Files, nodeFiles } from './files.ts'

async function saved() {
  const first = await shelved(snapshotDirectory(), { a: 'one' })
  await first.snapshots.save('base')
  const file = join(first.directory, 'base.json')
  return { ...first, file, text: fs.readFileSync(file, 'utf8') }
}

const mode = (path: string): string => (fs.statSync(path).mode & 0o777).toString(8)

test('a snapshot is a state document in a separate file that only its owner can read', async () => {
  const { sandbox, directory, file, text } = await saved()
  const { digest, ...document } = JSON.parse(text)
  expect(text).toBe(`${JSON.stringify({ ...document, digest }, null, 2)}\n`)
  expect(document).toEqual(sandbox.document())
  expect([mode(file), mode(directory), mode(join(directory, '..'))]).toEqual(['600', '700', '700'])
  expect(fs.readdirSync(directory)).toEqual(['base.json'])
})

test('no folder is created without a save', async () => {
  const { snapshots, snapshotStore, directory } = await shelved(snapshotDirectory())
  expect(await snapshots.list()).toEqual([])
  expect(await snapshotStore.start()).toBeUndefined()
  snapshotStore.clear()
  expect(fs.existsSync(join(directory, '..'))).toBe(false)
})

test('a file is read when it is needed, and only once until it changes', async () => {
  const first = await saved()
  await first.snapshots.save('other')
  const reads: string[] = []
  const files: Files = {
    ...nodeFiles,
    read: (path) => {
      reads.push(path)
      return nodeFiles.read(path)
    },
  }
  const { snapshots } = await shelved(first.directory, {}, files)
  expect(reads).toEqual([])
  for (let n = 0; n < 3; n++) await snapshots.restore('base')
  expect(reads).toEqual([first.file])
  await snapshots.list()
  await snapshots.list()
  expect(reads).toHaveLength(2)
  await snapshots.save('base')
  await snapshots.restore('base')
  await snapshots.list()
  expect(reads).toHaveLength(2)
})

test('snapshots that are no longer in memory are read again', async () => {
  const { sandbox, snapshots } = await shelved(snapshotDirectory())
  for (let n = 0; n < 20; n++) {
    put(sandbox, 'a', `text ${n}`)
    await snapshots.save(`s${n}`)
  }
  for (let n = 0; n < 20; n++) {
    await snapshots.restore(`s${n}`)
    expect(texts(sandbox)).toEqual({ a: `text ${n}` })
  }
})

test('files that a user edits, adds or removes while the emulator runs take effect', async () => {
  const { sandbox, snapshots, directory, file, text } = await saved()
  const { atime, mtime } = fs.statSync(file)
  fs.writeFileSync(file, text.replace('"text": "one"', '"text": "two"'))
  // A change is also found if the length and the modification time are the same.
  fs.utimesSync(file, atime, mtime)
  fs.writeFileSync(join(directory, 'added.json'), text)
  await snapshots.restore('base')
  expect(texts(sandbox)).toEqual({ a: 'two' })
  await snapshots.restore('added')
  expect(texts(sandbox)).toEqual({ a: 'one' })
  fs.rmSync(file)
  await expect(snapshots.restore('base')).rejects.toMatchObject({ code: 'not_found' })
  expect((await snapshots.list()).map(({ name }) => name)).toEqual(['added'])
})

/** What else is refused as in a state file; `recovery.test.ts` has every kind of damage. */
const DAMAGES: readonly [name: string, damage: (text: string) => string, description: RegExp][] = [
  ['cut off', (text) => text.slice(0, text.length / 2), /base\.json:\d+:\d+: /],
  ['another document', () => '{"name": "x"}', /base\.json:1: \/format: must be 2/],
  [
    'with a reference to a missing record',
    (text) => text.replace('"text": "one"', '"text": "one", "parent_id": "gone"'),
    /base\.json:\d+: \/collections\/notes\/0\/parent_id/,
  ],
]

test.for(DAMAGES)('a file that is %s is refused, and nothing changes', async ([, damage, description]) => {
  const { directory, file, text } = await saved()
  const damaged = Buffer.from(damage(text))
  fs.writeFileSync(file, damaged)
  const { sandbox, snapshots, notices } = await shelved(directory, { z: 'present' })
  const before = JSON.stringify(sandbox.document())
  for (const use of [() => snapshots.restore('base'), () => snapshots.export('base')]) {
    const refusal = await use().catch((error) => error)
    expect(refusal).toMatchObject({ code: 'conflict', message: expect.stringMatching(description) })
    expect(refusal.message).toContain(file)
    expect(refusal.options.mitigation).toContain('Fix the file')
  }
  const unknown = { saved_at: null, revision: null, records: null }
  const problem = expect.stringMatching(description)
  expect(await snapshots.list()).toMatchObject([{ name: 'base', ...unknown, problem }])
  expect(JSON.stringify(sandbox.document())).toBe(before)
  expect([fs.readFileSync(file).equals(damaged), notices]).toEqual([true, []])
})

test.for(['save', 'import', 'delete'] as const)('a damaged file is kept and reported on %s', async (how) => {
  const { directory, file } = await saved()
  fs.writeFileSync(file, '{"half": ')
  const { sandbox, snapshots, notices } = await shelved(directory, { b: 'two' })
  if (how === 'save') await snapshots.save('base')
  if (how === 'import') await snapshots.import('base', JSON.parse(JSON.stringify(sandbox.document())))
  if (how === 'delete') await snapshots.delete('base')
  expect(fs.readFileSync(`${file}.corrupt-1`, 'utf8')).toBe('{"half": ')
  expect(notices).toMatchObject([{ event: 'snapshot_damaged', level: 'error', kept: `${file}.corrupt-1` }])
  const names = (await snapshots.list()).map(({ name }) => name)
  expect(names).toEqual(how === 'delete' ? [] : ['base'])
})

test('a file that cannot be read at the moment is refused with the reason, and read the next time', async () => {
  const { directory } = await saved()
  let failures = 1
  const files: Files = {
    ...nodeFiles,
    read: (path) => {
      if (failures-- > 0) throw new Error('EMFILE: too many open files')
      return nodeFiles.read(path)
    },
  }
  const { sandbox, snapshots } = await shelved(directory, {}, files)
  await expect(snapshots.restore('base')).rejects.toThrow('base.json cannot be read: EMFILE')
  await snapshots.restore('base')
  expect(texts(sandbox)).toEqual({ a: 'one' })
})

test('a save on a full disk is refused, keeps the earlier snapshot, and leaves no temporary file', async () => {
  const disk = fillingDisk('write')
  const { sandbox, snapshots, directory } = await shelved(snapshotDirectory(), { a: 'one' }, disk.files)
  await snapshots.save('base')
  put(sandbox, 'a', 'two')
  disk.isFull = true
  await expect(snapshots.save('base')).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('ENOSPC'),
  })
  await expect(snapshots.save('new')).rejects.toMatchObject({ code: 'storage_unavailable' })
  expect(fs.readdirSync(directory)).toEqual(['base.json'])
  await snapshots.restore('base')
  expect(texts(sandbox)).toEqual({ a: 'one' })
  disk.isFull = false
  await snapshots.save('new')
  expect(fs.readdirSync(directory)).toEqual(['base.json', 'new.json'])
})

test('saves and restores take effect in the order of their calls', async () => {
  const { sandbox, snapshots } = await shelved(snapshotDirectory())
  const asked: Promise<unknown>[] = []
  for (const text of ['one', 'two', 'three']) {
    put(sandbox, 'a', text)
    asked.push(snapshots.save('base'))
  }
  put(sandbox, 'a', 'four')
  asked.push(snapshots.restore('base'))
  expect(texts(sandbox)).toEqual({ a: 'four' })
  await Promise.all(asked)
  expect(texts(sandbox)).toEqual({ a: 'three' })
})

test('one of two saves for the last place is refused, also on the disk', async () => {
  const { snapshots, snapshotStore, directory } = await shelved(snapshotDirectory())
  await snapshots.save('s0')
  const text = fs.readFileSync(join(directory, 's0.json'))
  for (let n = 1; n < MAX_SNAPSHOTS - 1; n++) fs.writeFileSync(join(directory, `s${n}.json`), text)
  const both = await Promise.allSettled([snapshots.save('last'), snapshots.save('too-much')])
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(snapshotStore.names()).toHaveLength(MAX_SNAPSHOTS)
})

test('temporary files that a crash has left are removed at the next start', async () => {
  const { directory, file } = await saved()
  fs.writeFileSync(`${file}.tmp`, 'half')
  await shelved(directory)
  expect(fs.readdirSync(directory)).toEqual(['base.json'])
})

test('clear() removes the folder, but files that were set aside stay', async () => {
  const { snapshots, snapshotStore, directory } = await shelved(snapshotDirectory())
  await snapshotStore.begin(await startingState({ s: 'start' }))
  await snapshots.save('base')
  snapshotStore.clear()
  expect(fs.existsSync(directory)).toBe(false)
  await snapshots.save('base')
  fs.writeFileSync(join(directory, 'base.json'), 'x')
  await snapshots.save('base')
  snapshotStore.clear()
  expect(fs.readdirSync(directory)).toEqual(['base.json.corrupt-1'])
})

test('the starting state is kept separately: no list shows it, and no name restores it', async () => {
  const first = await shelved(snapshotDirectory())
  await first.snapshotStore.begin(await startingState({ s: 'start' }))
  expect(fs.readdirSync(first.directory)).toEqual(['(start).json'])
  const { snapshots, sandbox } = await shelved(first.directory, { a: 'one' })
  expect(await snapshots.list()).toEqual([])
  await expect(snapshots.restore('(start)')).rejects.toMatchObject({ code: 'not_found' })
  const start = await snapshots.start()
  if (start !== undefined) sandbox.replaceWith(start)
  expect(texts(sandbox)).toEqual({ s: 'start' })
})

test('a starting state that cannot be used is refused with place and fix', async () => {
  const { snapshotStore, snapshots, directory } = await shelved(snapshotDirectory())
  await snapshotStore.begin(await startingState())
  fs.writeFileSync(join(directory, '(start).json'), '{')
  await expect(snapshots.start()).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('(start).json:1:2'),
    options: { mitigation: expect.stringContaining('remove it') },
  })
})

test('snapshots of an earlier sandbox are moved aside with its starting state when its name is used again', async () => {
  const first = await shelved(snapshotDirectory())
  await first.snapshotStore.begin(await startingState())
  await first.snapshots.save('base')
  const second = await shelved(first.directory)
  await second.snapshotStore.begin(undefined)
  expect([await second.snapshots.list(), await second.snapshots.start()]).toEqual([[], undefined])
  const kept = `${first.directory}.orphaned-1`
  expect(second.notices).toMatchObject([{ event: 'snapshots_orphaned', level: 'warn', kept }])
  expect(fs.readdirSync(kept).sort()).toEqual(['(start).json', 'base.json'])
})

test('a starting state that an interrupted removal has left is removed without a report', async () => {
  const first = await shelved(snapshotDirectory())
  await first.snapshotStore.begin(await startingState())
  const second = await shelved(first.directory)
  await second.snapshotStore.begin(undefined)
  expect([await second.snapshots.start(), second.notices]).toEqual([undefined, []])
})

test('other files in the folder are not touched', async () => {
  const { snapshots, snapshotStore, directory } = await shelved(snapshotDirectory())
  fs.mkdirSync(directory, { recursive: true })
  for (const name of ['README.md', 'Upper.json', 'a b.json', 'x.json.bak']) {
    fs.writeFileSync(join(directory, name), 'mine')
  }
  expect(await snapshots.list()).toEqual([])
  snapshotStore.clear()
  expect(fs.readdirSync(directory)).toHaveLength(4)
})
