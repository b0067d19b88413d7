import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import {
  openLibrary,
  script,
  snapshotOf,
  vocabulary,
  writeFiles,
} from '../../../test/support/scenario-folder.ts'
import { later } from '../../core/time/realtime.ts'

async function opened(files: Readonly<Record<string, string>>, folder = dataFolder()) {
  writeFiles(folder, files)
  const open = await openLibrary(folder)
  onTestFinished(() => open.library.close())
  return { ...open, folder }
}

test('every kind of script is loaded, and helpers are not scenarios', async () => {
  const { library, folder } = await opened({
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
    'README.md': '# no',
    ...Object.fromEntries(
      ['.hidden.ts', '#a.ts', 'a.ts~', 'tsconfig.json'].map((name) => [name, 'syntax error']),
    ),
  })
  expect(library.list()).toMatchObject([
    { name: 'common', description: 'common', valid: true, generation: 1, file: join(folder, 'common.cjs') },
    ...['data', 'modern', 'plain'].map((name) => ({ name, description: name, valid: true })),
    { name: 'typed', description: 'typed indeed', valid: true },
  ])
  expect(library.get('data')?.timeline).toEqual([{ at: '1m', do: [{ state: { id: 'x', cleanup: true } }] }])
  expect(library.get('nothing')).toBeUndefined()
})

test('a saved file is loaded without a restart, and a broken scenario keeps its last valid version', async () => {
  const hook = (word: string) =>
    script(`{ on: { 'batch.completed': ({ sandbox }) => sandbox.log(${word}) } }`)
  const { library, notices, until, folder } = await opened({
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
  expect(second()).toBe('one')

  // A change of an imported helper counts like a change of the script.
  writeFiles(folder, { 'lib/word.ts': "export const word = 'two'" })
  await until(() => second() === 'two')
  expect(library.list().map(({ generation }) => generation)).toEqual([1, 2])

  // A broken scenario keeps its version, functions included, while another one is swapped.
  writeFiles(folder, { 'first.ts': 'export default {,\n', 'lib/word.ts': "export const word = 'three'" })
  await until(() => second() === 'three')
  expect(library.list()).toMatchObject([
    { name: 'first', valid: false, generation: 1, problems: [{ line: 1, column: 17 }] },
    { name: 'second', valid: true, generation: 3 },
  ])
  expect(await said()).toEqual([{ kind: 'log', text: 'first, version 1' }])
  const [warning, ...others] = notices.filter(({ level }) => level === 'warn')
  expect(warning).toMatchObject({ event: 'scenario_broken', file: join(folder, 'first.ts'), line: 1 })
  expect(warning?.message).toMatch(
    /first\.ts:1:17: ParseError: Unexpected token\. The last valid version \(generation 1\) stays in force\.$/,
  )
  expect(others).toEqual([])

  // No new version is in force, so the generation stays the same.
  writeFiles(folder, { 'lib/word.ts': 'export const word = 3' })
  await until(() => library.list().every(({ valid }) => !valid))
  expect([second(), library.get('second')?.generation]).toEqual(['three', 3])

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
    { file: join(dirname(folder), 'beside.ts'), line: 1, column: 7, message: 'no' },
  ])
  rmSync(join(folder, 'second.ts'))
  await until(() => library.list().length === 1)
  expect([second(), library.get('first')?.name]).toEqual([undefined, 'first'])
})

test('a folder is found at whatever moment of the first look it is created, and may be removed again', async () => {
  const moments = Array.from({ length: 40 }, (_, n) => n / 4)
  await Promise.all(
    moments.map(async (ms) => {
      const { library, until, folder } = await opened({}, join(dataFolder(), 'below', 'scenarios'))
      const began = performance.now()
      while (performance.now() < began + ms) await new Promise(setImmediate)
      mkdirSync(folder, { recursive: true })
      await new Promise((resolve) => later(150, () => resolve(undefined)))
      writeFiles(folder, { 'late.json': '{"description": "late"}' })
      await until(() => library.get('late') !== undefined)
      rmSync(folder, { recursive: true })
      await until(() => library.get('late') === undefined)
    }),
  )
})

test('links that lead to each other do not end the watching', async () => {
  const folder = dataFolder()
  mkdirSync(folder, { recursive: true })
  symlinkSync('b', join(folder, 'a'))
  symlinkSync('a', join(folder, 'b'))
  const { library, until } = await opened({ 'first.json': '{}' }, folder)
  writeFiles(folder, { 'late.json': '{"description": "late"}' })
  await until(() => library.get('late') !== undefined)
})

test('a half-saved file is not reported, since the library waits for the rest', async () => {
  const folder = dataFolder()
  writeFiles(folder, { 'a.json': '', 'b.json': '{"descrip', 'c.json': '{"settings": {}}' })
  const finish = () => writeFiles(folder, { 'a.json': '{"description": "a"}', 'b.json': '{}' })
  let begun = false
  // Called while the third file is being checked, after both halves have been read.
  const settings = () => {
    if (!begun) later(50, finish)
    begun = true
    return []
  }
  const checks = { ...vocabulary.checks, settings }
  const { library, notices } = await openLibrary(folder, { vocabulary: { ...vocabulary, checks } })
  onTestFinished(() => library.close())
  expect(library.list().map(({ name, valid }) => `${name} ${valid}`)).toEqual(['a true', 'b true', 'c true'])
  expect(notices).toEqual([])
})

test('only the scripts that import a changed file are loaded again, and circular helpers work', async () => {
  const count =
    'globalThis.loads = { ...globalThis.loads, [import.meta.url.split("/").at(-1)]: Math.random() }\n'
  const loads = () => ({ ...(globalThis as { loads?: Record<string, number> }).loads })
  onTestFinished(() => void Reflect.deleteProperty(globalThis, 'loads'))
  const { library, folder } = await opened({
    'a.ts': script('{ description: a() }', `import { a } from './lib/a.ts'\n${count}`),
    'b.ts': script('{ description: b() }', `import { b } from './lib/b.ts'\n${count}`),
    'c.ts': script('{ description: "c" }', `import './_own.ts'\n${count}`),
    'broken.ts': 'throw new Error("broken")',
    '_own.ts': '',
    'lib/a.ts': "import { b } from './b.ts'\nexport const word = 'one'\nexport const a = () => 'a ' + b()\n",
    'lib/b.ts': "import { word } from './a.ts'\nexport const b = () => 'b ' + word\n",
  })
  const first = loads()
  expect(Object.keys(first).sort()).toEqual(['a.ts', 'b.ts', 'c.ts'])
  const descriptions = () => library.list().map(({ description }) => description)
  expect(descriptions()).toEqual(['a b one', 'b one', null, 'c'])
  const later = "import { b } from './b.ts'\nexport const word = 'two'\nexport const a = b\n"
  writeFiles(folder, { 'lib/a.ts': later })
  await library.refresh()
  expect(descriptions()).toEqual(['b two', 'b two', null, 'c'])
  expect(loads()['a.ts']).not.toBe(first['a.ts'])
  expect(loads()['c.ts']).toBe(first['c.ts'])
  writeFiles(folder, { '_own.ts': 'export {}' })
  await library.refresh()
  expect(loads()['c.ts']).not.toBe(first['c.ts'])
})

test('a scenario with a closure, and each kind of helper, can be edited ten times', async () => {
  const files = (n: number) => ({
    'package.json': '{"type": "module"}',
    'counts.ts': script(
      "{ on: { 'batch.failed': ({ sandbox }) => sandbox.log([count(), kind, json.n, cjs, js, mjs].join(' ')) } }",
      `import { kind } from './lib/kind.ts'
import json from './lib/data.json'
import cjs from './lib/common.cjs'
import { js } from './lib/plain.js'
import { mjs } from './lib/modern.mjs'
let calls = 0
const count = () => ++calls
`,
    ),
    'lib/kind.ts': `export const kind: string = 'ts${n}'\n`,
    'lib/data.json': `{"n": ${n}}`,
    'lib/common.cjs': `module.exports = 'cjs${n}'\n`,
    'lib/plain.js': `export const js = 'js${n}'\n`,
    'lib/modern.mjs': `export const mjs = await Promise.resolve('mjs${n}')\n`,
  })
  const { library, folder } = await opened(files(0))
  const said = async () => (await library.call('counts', { on: 'batch.failed' }, snapshotOf()))[0]
  for (let n = 1; n <= 10; n++) {
    writeFiles(folder, files(n))
    await library.refresh()
    for (const calls of [1, 2]) {
      const text = `${calls} ts${n} ${n} cjs${n} js${n} mjs${n}`
      expect(await said()).toEqual({ kind: 'log', text })
    }
  }
})

test('a script whose promise never settles hides no other, and does not keep the library open', async () => {
  const { library } = await opened({
    'good.ts': script("{ description: 'good' }"),
    'waits.ts': 'await new Promise(() => {})\nexport default {}\n',
  })
  expect(library.list()).toMatchObject([
    { name: 'good', valid: true },
    { name: 'waits', problems: [{ message: expect.stringMatching(/^did not finish within 5000 ms/) }] },
  ])
}, 20_000)
