import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import {
  openLibrary,
  script,
  snapshotOf,
  vocabulary,
  writeFiles,
} from '../../../test/support/scenario-folder.ts'
import type { ScenarioEntry } from '../../core/scenarios/source.ts'
import { ScenariosWithBuiltIn } from './built-in.ts'

/** A script that cannot be run: if it is listed as valid, it has not been run. */
const FATAL = "throw new Error('was run')\n"
const HOOK =
  "{ description: 'Built in', on: { 'batch.completed': ({ sandbox }) => sandbox.log('built in') } }"

async function together(project: Record<string, string>, builtIn: Record<string, string>) {
  const [own, shipped] = [folder(project), folder(builtIn)]
  const opened = await openLibrary(own)
  const source = new ScenariosWithBuiltIn(opened.library, shipped, vocabulary)
  onTestFinished(() => opened.library.close())
  return { ...opened, source, own, shipped }
}

function folder(files: Record<string, string>): string {
  const path = dataFolder()
  mkdirSync(path)
  writeFiles(path, files)
  return path
}

function short({ name, origin, description, valid }: ScenarioEntry) {
  return [name, origin, description, valid]
}

test('a built-in scenario is listed without being run, and loaded alone on first use', async () => {
  const { source } = await together(
    { 'own.json': '{"description": "Own"}' },
    { 'a.ts': script(HOOK), 'z.ts': script("{ description: 'Fatal' }", FATAL) },
  )
  await source.load()
  expect(source.list().map(short)).toEqual([
    ['a', 'built-in', 'Built in', true],
    ['own', 'project', 'Own', true],
    ['z', 'built-in', 'Fatal', true],
  ])
  expect(source.get('a')).toBeUndefined()
  await source.load('a')
  expect(source.get('a')).toMatchObject({ name: 'a', on: ['batch.completed'], generation: 1 })
})

test('functions of a built-in scenario can be called before it is loaded', async () => {
  const { source } = await together({}, { 'a.ts': script(HOOK) })
  const commands = await source.call('a', { on: 'batch.completed' }, snapshotOf())
  expect(commands).toEqual([{ kind: 'log', text: 'built in' }])
})

test('a file of the project replaces the built-in one of the same name as long as it exists', async () => {
  const { source, own, until } = await together({}, { 'a.json': '{"description": "Built in"}' })
  await source.load('a')
  expect(source.list().map(({ origin }) => origin)).toEqual(['built-in'])
  writeFiles(own, { 'a.json': '{"description": "Own"}' })
  await until(() => source.list()[0]?.origin === 'project')
  expect(source.get('a')).toMatchObject({ description: 'Own' })
  rmSync(join(own, 'a.json'))
  await until(() => source.list()[0]?.origin === 'built-in')
  expect(source.get('a')).toMatchObject({ description: 'Built in' })
})

test('a broken file of the project hides the built-in one, so that its mistake is seen', async () => {
  const { source } = await together({ 'a.json': '{' }, { 'a.json': '{"description": "Built in"}' })
  await source.load('a')
  expect([source.list().map(short), source.get('a')]).toEqual([[['a', 'project', null, false]], undefined])
})

test('a built-in script that cannot be run is shown as broken, and tried again the next time', async () => {
  const { source, shipped } = await together({}, { 'a.ts': FATAL })
  await source.load('a')
  expect(source.list()[0]).toMatchObject({ valid: false, problems: [{ file: join(shipped, 'a.ts') }] })
  writeFiles(shipped, { 'a.ts': script(HOOK) })
  await source.load('a')
  expect(source.list()[0]).toMatchObject({ valid: true, problems: [] })
})

test('the scenarios of a project are the built-in ones if its folder is that of the package', async () => {
  const shipped = folder({ 'a.json': '{"description": "Built in"}' })
  const { library } = await openLibrary(shipped)
  const source = new ScenariosWithBuiltIn(library, shipped, vocabulary)
  onTestFinished(() => library.close())
  await source.load()
  expect(source.list().map(short)).toEqual([['a', 'built-in', 'Built in', true]])
})
