import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { alive, organizations } from '../../../test/support/data-folder.ts'
import { folder, open, put, texts } from '../../../test/support/disk-emulator.ts'
import { MortalFiles, unsynced } from '../../../test/support/mortal-files.ts'
import { opened, said } from '../../../test/support/state-files.ts'

/**
 * The data folder of a killed emulator of version 0.1.0: the default sandbox, with a log from before and after a failed
 * checkpoint, and a sandbox whose file was edited by hand between the two logs.
 */
const OLD = join(import.meta.dirname, '../../../test/support/data-0.1.0')

function oldFolder(): string {
  const data = join(folder(onTestFinished), 'data')
  cpSync(OLD, data, { recursive: true })
  return data
}

/** The text of the JSON files and logs below a folder. */
function contents(data: string): Record<string, string> {
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => /\.(json|log|\d)$/.test(name) && name.includes('.'))
  return Object.fromEntries(
    files
      .filter((name) => !name.endsWith('.d'))
      .map((name) => [name, readFileSync(join(data, name), 'utf8')]),
  )
}

test('a data folder of version 0.1.0 is migrated with all commits in its logs, and copies of the files are kept', async () => {
  const data = oldFolder()
  const old = contents(data)
  const { emulator, control, in: inSandbox } = await alive(data)
  const all = ['in-the-file', 'in-the-first-log', 'in-the-last-log']
  expect(await organizations(control)).toEqual(all)
  expect((await organizations(inSandbox('edited'))).sort()).toEqual(['by-hand', ...all])
  for (const name of ['default.json', 'default.json.log', 'default.json.log.1']) {
    const copy = name.replace('default.json', 'default.json.format-1')
    expect(readFileSync(join(data, copy), 'utf8')).toBe(old[name])
  }
  expect(existsSync(join(data, 'default.json.log'))).toBe(false)
  expect(existsSync(join(data, 'sandboxes/edited.json.log.1'))).toBe(false)
  const text = readFileSync(join(data, 'default.json'), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ format: 2, revision: 3 })
  expect((await control('POST', '/snapshots/early/restore')).status).toBeLessThan(300)
  expect(await organizations(control)).toEqual(['in-the-file'])
  await emulator.close()
  const again = await alive(data)
  expect([await organizations(again.control), again.said]).toEqual([['in-the-file'], []])
})

/** Writes a file of version 0.1.0 with a record of the small service of these tests. */
async function oldFile(file: string): Promise<void> {
  const { persistence } = await open(file, { start: { a: 'one' } })
  await persistence.close()
  const { digest: _, ...document } = JSON.parse(readFileSync(file, 'utf8'))
  for (const name of readdirSync(join(file, '..'))) unsynced.remove(join(file, '..', name))
  writeFileSync(file, JSON.stringify({ ...document, format: 1 }, null, 2))
}

test('D3 a migration that is killed before any of its file operations is completed by the next start', async () => {
  let steps = 1
  for (let at = 1; at <= steps; at++) {
    const data = oldFolder()
    const file = join(data, 'default.json')
    const old = contents(data)
    // The service of these tests does not have the collections of the real folder: this tests only the rules of the log.
    const mortal = new MortalFiles(at === 1 ? Number.POSITIVE_INFINITY : at, 'before')
    await open(file, { files: mortal.files }).then(
      ({ persistence }) => persistence.close(),
      () => {},
    )
    if (at === 1) steps = mortal.steps
    for (const name of readdirSync(data)) if (name.includes('.lock')) unsynced.remove(join(data, name))
    const again = await open(file, { files: unsynced })
    expect({ at, events: said(again).filter((event) => /orphan|corrupt|torn/.test(event)) }).toEqual({
      at,
      events: [],
    })
    expect(again.sandbox.store.revision).toBe(3)
    await again.persistence.close()
    for (const [name, text] of Object.entries(old)) {
      if (!/^default/.test(name)) continue
      const copy = name.replace('default.json', 'default.json.format-1')
      expect({ at, copy: readFileSync(join(data, copy), 'utf8') === text }).toEqual({ at, copy: true })
    }
    expect(readdirSync(data).filter((name) => /\.json\.log/.test(name))).toEqual([])
  }
  expect(steps).toBeGreaterThan(20)
})

test('a file of format 1 that was edited is used, and its journal is moved aside', async () => {
  const data = oldFolder()
  const file = join(data, 'default.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace('"seed": 1', '"seed": 7'))
  const { control, said: warnings } = await alive(data)
  expect(await organizations(control)).toEqual(['in-the-file'])
  expect(warnings.join()).toContain('without 2 later changes of its journal')
  expect(readFileSync(`${file}.log.orphaned-2`, 'utf8')).toContain('in-the-last-log')
})

test('a journal of version 0.1.0 with commits that the file does not contain is moved aside and reported', async () => {
  const file = join(folder(onTestFinished), 'sandbox.json')
  await oldFile(file)
  const first = await open(file)
  put(first.sandbox, 'b', 'two')
  await first.persistence.close()
  cpSync(join(OLD, 'default.json.log'), `${file}.log`)
  const again = await opened(file)
  expect(texts(again.sandbox)).toEqual({ a: 'one', b: 'two' })
  expect(again.notices).toMatchObject([{ event: 'journal_orphaned', kept: `${file}.log.orphaned-1` }])
})
