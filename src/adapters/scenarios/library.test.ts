import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import {
  HANGS,
  manualLimit,
  openLibrary,
  script,
  snapshotOf,
  vocabulary,
  writeFiles,
} from '../../../test/support/scenario-folder.ts'
import { later } from '../realtime.ts'

async function opened(folder: string, files: Readonly<Record<string, string>>) {
  writeFiles(folder, files)
  const open = await openLibrary(folder)
  onTestFinished(() => open.library.close())
  return open
}

test('every kind of script is loaded, and helpers are not scenarios', async () => {
  const folder = dataFolder()
  const { library } = await opened(folder, {
    'typed.ts': script('{ description: name satisfies string }', "import { name } from './lib/name.ts'\n"),
    'modern.mjs': script('{ description: await Promise.resolve("modern") }'),
    'plain.js': script('{ description: "plain" }'),
    'common.cjs':
      "const { defineScenario } = require('agent-workspace-emulator')\nmodule.exports = defineScenario({ description: 'common' })\n",
    'data.json':
      '{"description": "data", "timeline": [{"at": "1m", "do": [{"state": {"id": "x", "cleanup": true}}]}]}',
    'lib/name.ts': "import suffix from '../_suffix.cjs'\nexport const name: string = 'typed' + suffix\n",
    '_suffix.cjs': "module.exports = ' indeed'\n",
    'package.json': '{"type": "module"}',
    'types.d.ts': 'export {}',
    '.hidden.ts': 'syntax error',
    'README.md': '# no',
  })
  expect(library.list()).toMatchObject([
    { name: 'common', description: 'common', valid: true, generation: 1, file: join(folder, 'common.cjs') },
    { name: 'data', description: 'data', valid: true },
    { name: 'modern', description: 'modern', valid: true },
    { name: 'plain', description: 'plain', valid: true },
    { name: 'typed', description: 'typed indeed', valid: true },
  ])
  expect(library.get('data')?.timeline).toEqual([{ at: '1m', do: [{ state: { id: 'x', cleanup: true } }] }])
  expect(library.get('nothing')).toBeUndefined()
})

test('a saved file reloads the whole folder without a restart, and a broken scenario keeps its last valid version', async () => {
  const folder = dataFolder()
  const hook = (word: string) =>
    script(`{ on: { 'batch.completed': ({ sandbox }) => sandbox.log(${word}) } }`)
  const { library, notices, until } = await opened(folder, {
    'first.ts': hook("'first, version 1'"),
    'second.ts': script(
      '{ description: word }',
      "import { word } from './lib/word.ts'\nimport '../beside.ts'\n",
    ),
    'lib/word.ts': "export const word = 'one'",
    '../beside.ts': 'export {}',
  })
  const said = () => library.call('first', { on: 'batch.completed' }, snapshotOf())
  const second = () => library.get('second')?.description
  expect([second(), library.generation]).toEqual(['one', 1])

  // A change of an imported helper counts like a change of the script.
  writeFiles(folder, { 'lib/word.ts': "export const word = 'two'" })
  await until(() => second() === 'two')
  expect(library.generation).toBe(2)

  // A broken scenario keeps its version, functions included, while another one is swapped.
  writeFiles(folder, { 'first.ts': 'export default {,\n', 'lib/word.ts': "export const word = 'three'" })
  await until(() => second() === 'three')
  expect(library.list()).toMatchObject([
    { name: 'first', valid: false, generation: 2, problems: [{ line: 1, column: 17 }] },
    { name: 'second', valid: true, generation: 3 },
  ])
  expect(await said()).toEqual([{ kind: 'log', text: 'first, version 1' }])
  expect(notices.filter(({ level }) => level === 'warn')).toEqual([
    {
      level: 'warn',
      event: 'scenario_broken',
      message: expect.stringMatching(
        /first\.ts:1:17: ParseError: Unexpected token\. The last valid version \(generation 2\) stays in force\.$/,
      ),
      file: join(folder, 'first.ts'),
      line: 1,
    },
  ])

  // No new version is in force, so the generation stays the same.
  writeFiles(folder, { 'lib/word.ts': 'export const word = 3' })
  await until(() => library.list().every(({ valid }) => !valid))
  expect([second(), library.generation]).toEqual(['three', 3])

  // One file is repaired by replacing it, the other in place: editors do either.
  writeFileSync(join(folder, 'first.tmp'), hook("'first, version 2'"))
  renameSync(join(folder, 'first.tmp'), join(folder, 'first.ts'))
  await until(() => library.get('first')?.generation === 4)
  expect(await said()).toEqual([{ kind: 'log', text: 'first, version 2' }])
  writeFiles(folder, { 'lib/word.ts': "export const word = 'four'" })
  await until(() => second() === 'four')

  // A file that is imported from outside the folder changes, and another file is removed.
  writeFiles(folder, { '../beside.ts': 'throw new Error("no")' })
  await until(() => library.list().some(({ valid }) => !valid))
  expect(library.list()[1]?.problems).toEqual([
    { file: join(dirname(folder), 'beside.ts'), line: 1, message: 'no' },
  ])
  rmSync(join(folder, 'second.ts'))
  await until(() => library.list().length === 1)
  expect([second(), library.get('first')?.name]).toEqual([undefined, 'first'])
})

test('a folder that is created later is found, even if its parent was missing, and may be removed again', async () => {
  const folder = join(dataFolder(), 'below', 'scenarios')
  const { library, until } = await openLibrary(folder)
  onTestFinished(() => library.close())
  expect(library.list()).toEqual([])
  writeFiles(folder, { 'late.json': '{"description": "late"}' })
  await until(() => library.get('late') !== undefined)
  rmSync(folder, { recursive: true })
  await until(() => library.get('late') === undefined)
})

test('a half-saved file is not reported, since the library waits for the rest', async () => {
  const folder = dataFolder()
  writeFiles(folder, { 'a.json': '', 'b.json': '{"descrip', 'c.json': '{"settings": {}}' })
  const finish = () => writeFiles(folder, { 'a.json': '{"description": "a"}', 'b.json': '{}' })
  // Called while the third file is being checked, after both halves have been read.
  const settings = () => {
    later(50, finish)
    return []
  }
  const checks = { ...vocabulary.checks, settings }
  const { library, notices } = await openLibrary(folder, { vocabulary: { ...vocabulary, checks } })
  onTestFinished(() => library.close())
  expect(library.list().map(({ name, valid }) => [name, valid])).toEqual([
    ['a', true],
    ['b', true],
    ['c', true],
  ])
  expect(notices).toEqual([])
})

test('a new process does not call the last valid version after its file has changed', async () => {
  const folder = dataFolder()
  writeFiles(folder, {
    'loops.ts': script(`{ timeline: [{ at: '1m', do: () => { ${HANGS} } }, { at: '2m', do: () => {} }] }`),
  })
  const limit = manualLimit()
  const { library, notices, until } = await openLibrary(folder, { later: limit.later })
  onTestFinished(() => library.close())
  const call = (timeline: number) => library.call('loops', { timeline }, snapshotOf())
  const stop = async () => {
    const hanging = () => notices.filter(({ message }) => message === 'hangs').length
    const before = hanging()
    const called = call(0)
    await Promise.all([
      until(() => hanging() > before).then(() => limit.runOut()),
      expect(called).rejects.toThrow('did not finish within 5000 ms'),
    ])
  }
  await stop()
  expect(await call(1)).toEqual([])
  writeFiles(folder, { 'loops.ts': 'export default {,' })
  await library.refresh()
  expect(await call(1)).toEqual([])
  await stop()
  await expect(call(1)).rejects.toThrow(
    'loops.ts: has changed on disk since its active version was loaded, and that version was stopped.',
  )
  writeFiles(folder, { 'loops.ts': script("{ timeline: [{ at: '1m', do: () => {} }] }") })
  await library.refresh()
  expect(await call(0)).toEqual([])
})

test('a script that hangs during its load does not delay the load of its repaired version', async () => {
  const folder = dataFolder()
  writeFiles(folder, { 'a.json': '{"settings": {}}', 'hangs.ts': script('{}') })
  let rounds = 0
  const settings = () => {
    rounds += 1
    // The script is being loaded by then.
    if (rounds === 2)
      later(800, () => writeFiles(folder, { 'hangs.ts': script("{ description: 'no more' }") }))
    return []
  }
  const checks = { ...vocabulary.checks, settings }
  const options = { vocabulary: { ...vocabulary, checks }, limits: { loadMs: 60_000 } }
  const { library, notices, until } = await openLibrary(folder, options)
  onTestFinished(() => library.close())
  writeFiles(folder, { 'hangs.ts': 'for (;;) {}' })
  await until(() => library.get('hangs')?.description === 'no more')
  expect(notices.filter(({ level }) => level === 'warn')).toEqual([])
})
