import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from '../../../test/support/disk-emulator.ts'
import { type Files, nodeFiles } from './files.ts'
import { encodeLine, headerLine } from './journal-format.ts'
import { journalOf } from './names.ts'
import { readWakeTime } from './state-file.ts'

/** Writes a state file that begins with these fields, and a journal with these lines. */
function stateFile(head: object, ...journal: Parameters<typeof encodeLine>[0][]): string {
  const file = join(folder(onTestFinished), 'sandbox.json')
  writeFileSync(file, JSON.stringify({ ...head, seed: 1 }, null, 2))
  for (const line of journal) appendFileSync(journalOf(file), encodeLine(line))
  return file
}

const head = (wakes_at: string | null) => ({ format: 2, revision: 7, sandbox: 'a', wakes_at })
const header = (revision: number) => headerLine({ file: null, revision })
const commit = { revision: 8, at: '2026-03-01T12:00:00Z', changes: [] }

test('the wake time is unknown if the file lacks it or the journal has later commits', () => {
  const files = [
    stateFile({ format: 2, revision: 7, sandbox: 'a' }),
    stateFile({ wakes_at: null, format: 2, revision: 7, sandbox: 'a' }),
    stateFile(head(null), header(7), commit),
    stateFile(head(null), commit),
  ]
  expect(files.map((file) => readWakeTime(nodeFiles, file))).toEqual(files.map(() => 'unknown'))
})

test('only the first bytes of a large file and a large journal are read', () => {
  const text = { id: 'x', text: 'x'.repeat(100_000) }
  const file = stateFile({ ...head(null), collections: { notes: [text] } }, header(7))
  let bytes = 0
  const counting: Files = {
    ...nodeFiles,
    readInto: (from, buffer, at) => {
      const read = nodeFiles.readInto(from, buffer, at)
      bytes += read
      return read
    },
    read: (path) => {
      if (path === file) throw new Error('the whole file is read')
      return nodeFiles.read(path)
    },
  }
  expect(readWakeTime(counting, file)).toBe('never')
  expect(bytes).toBeLessThan(5_000)
  appendFileSync(journalOf(file), encodeLine({ ...commit, changes: [['put', 'notes', text]] }))
  expect(readWakeTime(counting, file)).toBe('unknown')
  expect(bytes).toBeLessThan(10_000)
})
