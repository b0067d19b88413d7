import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { dataFolder } from '../../../test/support/data-folder.ts'
import { script, vocabulary, writeFiles } from '../../../test/support/scenario-folder.ts'
import { loadOnce } from './load.ts'
import { problemLine } from './problem.ts'

async function problems(folder: string, files: Readonly<Record<string, string>>) {
  writeFiles(folder, files)
  const candidates = await loadOnce(folder, vocabulary)
  const shown = candidates.flatMap((each) => each.problems)
  return shown.map((problem) => problemLine({ ...problem, file: relative(folder, problem.file) }))
}

test('a problem in the data of a script is reported at its line, with the nearest known name', async () => {
  const found = await problems(dataFolder(), {
    'members.ts': script(`{
  descripton: 'x',
  pace: { validating: 3 },
  outcomes: [
    { status: 'errored' },
    { match: { custom_id: '' } },
  ],
  faults: [{ preset: 'a' }, { pereset: 'b' }],
  clock: { rat: 1 },
  timeline: [{ at: 'soon', do: [] }],
  on: { 'batch.complete': () => {}, 'batch.failed': 3 },
}`),
    'async.ts': script("{\n  on: { 'batch.failed': async () => {} },\n}"),
    'elsewhere.js': script('{ faults, stubs: [() => {}], settings: { a: 1n } }', 'const faults = [{}]\n'),
  })
  expect(found).toEqual([
    'async.ts:3:9: /on/batch.failed: is async; a function must be synchronous, because its changes are applied when it returns',
    'elsewhere.js:3:49: /stubs/0: is a function; only "do" of a timeline step and fields of "on" may be functions',
    'elsewhere.js:3:72: /settings/a: is of the type bigint, which JSON cannot represent',
    'members.ts:3:3: /descripton: is not a known field. Did you mean "description"?',
    expect.stringMatching(/^members\.ts:4:11: \/pace\/validating: must be "immediate", "hold", a duration/),
    expect.stringMatching(/^members\.ts:7:16: \/outcomes\/1\/match\/custom_id: must be a glob/),
    'members.ts:9:29: /faults/1: must have a preset',
    'members.ts:10:12: /clock/rat: is not a known field. Did you mean "rate"?',
    expect.stringMatching(/^members\.ts:11:16: \/timeline\/0\/at: must be a duration/),
    expect.stringMatching(/^members\.ts:11:28: \/timeline\/0\/do: must be a function, or a list of actions/),
    'members.ts:12:9: /on/batch.complete: is no event. Did you mean "batch.completed"?',
    expect.stringMatching(/^members\.ts:12:37: \/on\/batch.failed: must be a function/),
  ])
})

test('a problem in a JSON file is reported at its line and column', async () => {
  const found = await problems(dataFolder(), {
    'comma.json': '{\n  "description": "x",\n}\n',
    'empty.json': ' \n',
    'list.json': '[]',
    'members.json':
      '{\n  "pace": {"validating": 3},\n  "on": {"batch.failed": "log"},\n  "requests_per_minute": 1\n}',
  })
  expect(found).toEqual([
    'comma.json:3:1: is not JSON: expected a property name in double quotes, found "}"',
    'empty.json:1:1: is empty',
    'list.json:1:1: must be an object',
    expect.stringMatching(/^members\.json:2:26: \/pace\/validating: must be "immediate"/),
    'members.json:3:26: /on/batch.failed: must be a function; a .json file cannot have one, a .ts or .js file can',
    expect.stringMatching(
      /^members\.json:4:26: \/requests_per_minute: is not a known field\. Known fields: d/,
    ),
  ])
})

test('an error in a script, or in a file that it imports, is reported at its line', async () => {
  const found = await problems(dataFolder(), {
    'empty.ts': '\n',
    'helped.ts': script('{ description: first([]) }', "import { first } from './lib/first.ts'\n"),
    'lib/first.ts': '\nexport function first(list: string[][]): string {\n  return list[0]!.at(0)!\n}\n',
    'missing.ts': script('{ description: x }', "\nimport { x } from './nowhere.ts'\n"),
    'none.ts': 'export const scenario = {}\n',
    'number.ts': 'export default 3\n',
    'syntax.ts': 'const a: number = 1\nexport default {\n  description: "a" "b",\n}\n',
    'undefined.ts': 'export default undefined\n',
  })
  expect(found).toEqual([
    'empty.ts: is empty',
    "lib/first.ts:3:19: TypeError: Cannot read properties of undefined (reading 'at')",
    "missing.ts:3:1: Cannot find module './nowhere.ts'",
    expect.stringMatching(/^none\.ts: has no default export\. Write export default defineScenario/),
    'number.ts: exports no scenario: it must be an object',
    expect.stringMatching(/^syntax\.ts:3:20: ParseError: Unexpected token/),
    expect.stringMatching(/^undefined\.ts: has no default export/),
  ])
})

test('invalid names of scenarios, and names that two scenarios have, are reported', async () => {
  const folder = dataFolder()
  const files = { 'Big one.ts': 'throw 1', 'twin.json': '{}', 'twin.ts': script('{}') }
  const found = await problems(folder, files)
  expect(found).toEqual([
    expect.stringMatching(/^Big one\.ts: is named "Big one"; the name of a scenario may have only lower/),
    `twin.json: has the same name as ${folder}/twin.ts; rename one of them`,
    `twin.ts: has the same name as ${folder}/twin.json; rename one of them`,
  ])
})

test('a FIFO, and a device behind a link, are named and skipped, and the other files are read', async () => {
  const folder = dataFolder()
  mkdirSync(folder)
  execFileSync('mkfifo', [join(folder, 'pipe.ts'), join(folder, 'nameless')])
  symlinkSync('/dev/zero', join(folder, 'zero.json'))
  const found = await problems(folder, {
    'good.ts': script("{ description: 'good' }"),
    'imports.ts': script('{}', "import './nameless'\n"),
  })
  expect(found).toEqual([
    `imports.ts:2:1: ${join(folder, 'nameless')} is not a regular file`,
    'nameless: is a FIFO; only regular files are read',
    'pipe.ts: is a FIFO; only regular files are read',
    'zero.json: is a device; only regular files are read',
  ])
})

test('a deeply nested JSON scenario is named, and hides no other file', async () => {
  const nested = (levels: number) => `{"settings": {"a": ${'['.repeat(levels)}${']'.repeat(levels)}}}`
  const found = await problems(dataFolder(), {
    'a.json': nested(200),
    'b.json': nested(500_000),
    'c.json': '['.repeat(500_000),
    'd.json': '{"description": 3}',
    'e.ts': `let at: unknown[] = []\nfor (let n = 0; n < 100_000; n++) at = [at]\nexport default { settings: { at } }\n`,
  })
  const tooDeep = 'is nested too deeply: a scenario has at most 100 objects and lists inside each other'
  expect(found).toEqual([
    `a.json: ${tooDeep}`,
    'b.json:1:1018: is not JSON: the text nests more than 1000 levels deep',
    expect.stringMatching(/^c\.json:1:1: is not JSON: the text is nested too deeply to locate the error/),
    'd.json:1:17: /description: must be of the type string, not number',
    expect.stringMatching(/^e\.ts:3:30: \/settings\/at\/0\/0.*: is nested too deep, or contains itself$/),
  ])
})

test('single files can be read, from any folder', async () => {
  const [one, two] = [dataFolder(), dataFolder()]
  writeFiles(one, { 'same.ts': script("{ description: 'one' }"), 'broken.ts': 'throw 1' })
  writeFiles(two, { 'same.json': '{"description": "two"}' })
  const candidates = await loadOnce([`${one}/same.ts`, `${two}/same.json`, `${two}/gone.json`], vocabulary)
  expect(candidates.map(({ data, problems }) => data?.description ?? problems[0]?.message)).toEqual([
    'one',
    'two',
    'cannot be read (ENOENT)',
  ])
})
