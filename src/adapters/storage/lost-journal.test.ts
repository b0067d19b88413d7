import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, texts } from '../../../test/support/disk-emulator.ts'
import { killed, opened, said, stateFile } from '../../../test/support/state-files.ts'
import { type Files, nodeFiles } from './files.ts'

const WAYS: readonly (readonly [string, (journal: string) => void])[] = [
  ['removed', (journal) => rmSync(journal)],
  ['truncated', (journal) => truncateSync(journal)],
  ['shortened by one byte', (journal) => truncateSync(journal, readFileSync(journal).length - 1)],
  ['renamed by a log rotation', (journal) => renameSync(journal, `${journal}-rotated`)],
  [
    'replaced by a copy of itself',
    (journal) => {
      const bytes = readFileSync(journal)
      rmSync(journal)
      writeFileSync(journal, bytes)
    },
  ],
]

test.each(WAYS)(
  'no commit is lost when the journal is %s: the next write waits for a checkpoint',
  async (_, lose) => {
    const file = stateFile()
    const emulator = await opened(file, { start: { a: 'one' } })
    put(emulator.sandbox, 'b', 'before')
    lose(`${file}.journal`)
    put(emulator.sandbox, 'c', 'after')
    await emulator.sandbox.store.journal?.durable()
    expect(said(emulator)).toEqual(['journal_lost'])
    put(emulator.sandbox, 'd', 'later')
    expect(emulator.sandbox.store.journal?.durable()).toBeUndefined()
    const again = await opened(killed(file))
    expect(texts(again.sandbox)).toEqual({ a: 'one', b: 'before', c: 'after', d: 'later' })
    expect(said(again)).toEqual([])
  },
)

test('writes after a lost journal are acknowledged only when a checkpoint succeeds', async () => {
  let full = false
  const files: Files = {
    ...nodeFiles,
    writeSoon: (...args) => (full ? Promise.reject(new Error('ENOSPC')) : nodeFiles.writeSoon(...args)),
  }
  const file = stateFile()
  const { sandbox, persistence } = await opened(file, { files })
  put(sandbox, 'a', 'before')
  rmSync(`${file}.journal`)
  full = true
  put(sandbox, 'b', 'after')
  await expect(sandbox.store.journal?.durable()).rejects.toMatchObject({ code: 'storage_unavailable' })
  put(sandbox, 'c', 'later')
  await expect(sandbox.store.journal?.durable()).rejects.toThrow(`${file}.journal is not reliable`)
  full = false
  await persistence.checkpointNow()
  expect(sandbox.store.journal?.durable()).toBeUndefined()
  expect(texts((await opened(killed(file))).sandbox)).toEqual({ a: 'before', b: 'after', c: 'later' })
})
