import { existsSync } from 'node:fs'
import { join, posix, win32 } from 'node:path'
import { expect, test } from 'vitest'
import { portablePath } from '../src/adapters/scenarios/folder.ts'
import { problemOf } from '../src/adapters/scenarios/problem.ts'
import { reportedErrors } from '../src/tools/hunt/runner-errors.ts'
import { command, temporaryFile } from './cli/in-process.ts'
import { sourceFiles } from './shape/source.ts'
import { folderWith } from './support/endpoint-folder.ts'
import { openLibrary, script } from './support/scenario-folder.ts'

// --- Paths ---

test.for([
  [win32, 'C:\\work\\scenarios', 'C:\\work\\scenarios\\lib\\_rules.ts', 'lib/_rules.ts'],
  [win32, 'C:\\work\\scenarios', 'c:\\work\\scenarios\\slow.ts', 'slow.ts'],
  [win32, '\\\\server\\share', '\\\\server\\share\\a\\b.json', 'a/b.json'],
  [posix, '/srv/app/scenarios', '/srv/app/scenarios/lib/_rules.ts', 'lib/_rules.ts'],
  // A backslash is a letter of a name here.
  [posix, '/srv/app', '/srv/app/a\\b.ts', 'a\\b.ts'],
] as const)('a recording names a file with slashes: %# %s', ([system, folder, file, path]) => {
  expect(portablePath(folder, file, system)).toBe(path)
})

test('the place of an error is found in a stack with drive letters', () => {
  const file = 'C:\\work\\slow.ts'
  const thrown = new Error('no')
  thrown.stack = `Error: no\n    at on (${file}:12:5)\n    at C:\\work\\run.ts:1:1`
  const map = { findEntry: () => ({ originalLine: 8, originalColumn: 2 }) }
  const places = new Map([[file, map]]) as unknown as Parameters<typeof problemOf>[2]
  expect(problemOf(thrown, file, places)).toMatchObject({ file, line: 9, column: 3 })
})

test.for([['start', '--ephemeral', '--fixtures'], ['validate'], ['replay'], ['state', 'import']])(
  '%s: a path of Windows that leads to no file is named as it was given',
  async (args) => {
    const { code, err, out } = await command([...args, 'C:\\data\\sandbox.json'])
    expect(code).not.toBe(0)
    expect(err + out).toContain('C:\\data\\sandbox.json')
  },
)

// --- Line ends ---

test.for([
  ['sandbox.json', '{\r\n  "extends": "demo",\r\n  "colections": {}\r\n}\r\n', ':3'],
  ['sandbox.json', '{\r\n  "extends": "demo"\r\n  "own": {}\r\n}\r\n', ':3'],
  ['settings.json', '{\r\n  "status.conflict": 422,\r\n  "status.conflct": 1\r\n}\r\n', ':3'],
  ['slow.ts', script('{\r\n  description: "x",\r\n  setings: {},\r\n}').replaceAll(/\r?\n/g, '\r\n'), ':4'],
  ['slow.ts', 'const a = 1\r\nexport default {\r\n  description: }\r\n', ':3'],
  ['slow.json', '{\r\n  "description": "x",\r\n  "setings": {}\r\n}\r\n', ':3'],
] as const)('%s with CRLF: a mistake is reported with its line (%#)', async ([name, text, place]) => {
  const file = temporaryFile(name, text)
  const { code, out } = await command(['validate', file])
  expect(code).toBe(1)
  expect(out).toContain(`${file}${place}`)
})

test('the errors of a runner whose lines end in CRLF are those of one with LF', () => {
  const output = ' FAIL  a.test.ts > works\nTypeError: x is undefined\n'
  expect(reportedErrors(output.replaceAll('\n', '\r\n'))).toEqual(reportedErrors(output))
  expect(reportedErrors(output)).toHaveLength(1)
})

// --- Names that differ only in letter case ---

test('of two scenarios whose names differ in letter case, one is used and the other is named', async () => {
  const folder = folderWith({ 'slow.json': '{}', 'Slow.ts': script('{}') })
  const { library } = await openLibrary(folder)
  const found = library.list()
  await library.close()
  expect(found.find(({ name }) => name === 'slow')).toMatchObject({ problems: [] })
  expect(found.find(({ name }) => name === 'Slow')?.problems[0]?.message).toContain('lowercase')
})

test('an import in another letter case is loaded where the disk allows it, and otherwise named', async () => {
  const folder = folderWith({
    '_rules.ts': 'export const text = "x"\n',
    'slow.ts': script('{ description: text }', "import { text } from './_Rules.ts'\n"),
  })
  const { library } = await openLibrary(folder)
  const [slow] = library.list()
  await library.close()
  if (existsSync(join(folder, '_RULES.ts'))) expect(slow).toMatchObject({ problems: [] })
  else expect(slow?.problems[0]?.message).toContain('_Rules.ts')
})

// --- Signals ---

const OF_WINDOWS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK', 'SIGKILL']

test('the source names no signal that Windows lacks', () => {
  const named = sourceFiles(join(import.meta.dirname, '..')).flatMap(
    ({ text }) => text.match(/\bSIG(?!NATURE|NED)[A-Z]+\d?\b/g) ?? [],
  )
  expect(named.length).toBeGreaterThan(5)
  expect([...new Set(named)].filter((name) => !OF_WINDOWS.includes(name))).toEqual([])
})
