import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { asErrors, asText, coverageOf, type LocatedTitle, readTitles, report } from './coverage.ts'
import { sections } from './requirements/requirement.ts'
import { type Requirement, requirements } from './requirements.ts'
import { findTitles, idOf, namedIds } from './titles.ts'

const project = fileURLToPath(new URL('../..', import.meta.url))

test('the list runs from the first to the last number without gap or repeat', () => {
  expect(requirements.map(({ id }) => id)).toEqual(Array.from({ length: 296 }, (_, index) => idOf(index + 1)))
})

test('each requirement is one sentence that no other requirement repeats', () => {
  const sentences = requirements.map(({ description }) => description)
  expect(sentences.filter((description) => description.length < 20 || description.length > 260)).toEqual([])
  expect(sentences.filter((description) => !description.endsWith('.') || /[.!?] /.test(description))).toEqual(
    [],
  )
  expect(sentences.filter((description, index) => sentences.indexOf(description) !== index)).toEqual([])
})

test('each section has a requirement, and the list follows the order of the sections', () => {
  const used = requirements.map(({ section }) => section)
  expect(used.filter((section, index) => section !== used[index - 1])).toEqual([...sections])
})

test('no test of this project names a requirement that does not exist', () => {
  expect(asErrors(coverageOf(requirements, readTitles(project)))).toEqual([])
})

test.for<[form: string, source: string, titles: readonly string[]]>([
  ['test', `test('R123 plain', () => {})`, ['R123 plain']],
  ['it', `it("R123 plain", () => {})`, ['R123 plain']],
  [
    'a template',
    'test(`R123 in $' + '{place({ a: `}` })} way`, run)',
    ['R123 in $' + '{place({ a: `}` })} way'],
  ],
  ['a line break', `test(\n  'R123 below',\n  async () => {},\n)`, ['R123 below']],
  ['a comment in between', `test(/* first */ 'R123 behind', run)`, ['R123 behind']],
  ['joined strings', `test('R123 one ' +\n  'and two', run)`, ['R123 one and two']],
  ['an escaped quote', `test('R123 the key\\'s kind', run)`, [`R123 the key's kind`]],
  ['each', `test.each([[1, ')'], [2, '(']])('R123 with %s', run)`, ['R123 with %s']],
  ['each over lines', `test\n  .each([1, 2])(\n    'R123 with %s', run)`, ['R123 with %s']],
  ['each with types', `it.each<() => Map<string, 1>>([f(1)])('R123 with %s', run)`, ['R123 with %s']],
  [
    'each with a template table',
    'test.each`a|b\n$' + '{1}|$' + '{2}`("R123 with $a", run)',
    ['R123 with $a'],
  ],
  ['for', `test.for([{ a: 1 }])('R123 with $a', run)`, ['R123 with $a']],
  ['numbers in the table', `test.for([['R123 a', 1], ['R124 b', 2]])('%s', run)`, ['R123 a', 'R124 b']],
  ['other strings in the table', `test.for(['R123 a'])('reads %s', run)`, ['reads %s']],
  ['modifiers', `test.concurrent.skipIf(isSlow())('R123 here', run)`, ['R123 here']],
  ['a wrapper', `testOverHttp('R123 here', run); httpTest('R124 there', run)`, ['R123 here', 'R124 there']],
  ['several calls', `test('R001 a', run)\ntest('R002 b', run)`, ['R001 a', 'R002 b']],
  ['a comment', `// test('R123 old', run)\n/* it('R124 old', run) */`, []],
  ['a string', `const source = "test('R123 quoted', run)"`, []],
  ['a method', `/R123/.test('R123 text'); pattern.test('R123 text')`, []],
  ['another builder', `const test = base.extend('R123', () => 1)\ntest.extend('R124', () => 1)`, []],
  ['a computed title', `test(title, run)`, []],
  ['a quote in a pattern', `const quote = /['"\`/]/\ntest('R123 after it', run)`, ['R123 after it']],
  ['a division', `const half = (a) / 2, b = c / '2'.length\ntest('R123 after it', run)`, ['R123 after it']],
])('the scanner reads %s', ([, source, titles]) => {
  expect(findTitles(source).map(({ title }) => title)).toEqual(titles)
})

test('the scanner says where a title stands', () => {
  const source = `import x from 'x'\n\ntest(\n  'R001 a', run)\n\ntest.each([\n  'R002 b',\n])('%s', run)`
  expect(findTitles(source).map(({ line }) => line)).toEqual([3, 7])
})

test('a title carries every number in it, and both ends of a range with all between', () => {
  expect(namedIds('R020 R024 both defaults')).toEqual(['R020', 'R024'])
  expect(namedIds('R240, R241: codes, unlike R240 alone')).toEqual(['R240', 'R241'])
  expect(namedIds('R082-R084 and R086\u2013R087')).toEqual(['R082', 'R083', 'R084', 'R086', 'R087'])
  expect(namedIds('R084-R082 backwards')).toEqual(['R084', 'R082'])
  expect(namedIds('U035 names no requirement, nor does HR100')).toEqual([])
})

test('a number of the wrong length is named too, so that a slip is reported', () => {
  expect(namedIds('R12 short')).toEqual(['R12'])
  expect(namedIds('long R1234')).toEqual(['R1234'])
})

const list: readonly Requirement[] = [
  { id: 'R001', section: 'Authentication', description: 'The first holds.' },
  { id: 'R002', section: 'Authentication', description: 'The second holds.', beyond: 'waits for later work' },
  { id: 'R003', section: 'Versioning', description: 'The third holds.' },
]

function titlesOf(source: string): readonly LocatedTitle[] {
  return findTitles(source).map((found) => ({ ...found, file: 'src/a.test.ts' }))
}

test('the report lists the tests of each requirement, what is missing and why, and the sum', () => {
  expect(asText(coverageOf(list, titlesOf(`test('R001 works', run)`)))).toBe(
    [
      'R001  Authentication: The first holds.',
      '        src/a.test.ts:1  R001 works',
      'R002  Authentication: The second holds.',
      'R003  Versioning: The third holds.',
      '',
      'not covered:',
      'R002  waits for later work',
      'R003  no test',
      '',
      'covered 1 of 3',
      '',
    ].join('\n'),
  )
})

test.for(['skip', 'todo', 'fails', 'concurrent.skip'])('a test under %s covers nothing', (modifier) => {
  const coverage = coverageOf(list, titlesOf(`test.${modifier}('R001 works', run)`))
  expect(coverage.covered).toBe(0)
  expect(asText(coverage)).toContain('src/a.test.ts:1  R001 works (shows nothing)')
})

test('an unknown number fails the command and names file, line and title', () => {
  const coverage = coverageOf(list, titlesOf(`\ntest('R001 R004 slip', run)`))
  expect(coverage.covered).toBe(1)
  expect(report([], coverage)).toEqual({
    output: asText(coverage),
    errors: [
      'src/a.test.ts:2: the title "R001 R004 slip" names R004, but requirements run from R001 to R003; correct the number.',
    ],
    exitCode: 1,
  })
})

test('the command prints JSON on request and refuses other options', () => {
  const coverage = coverageOf(list, titlesOf(`test('R003 works', run)`))
  const printed = report(['--json'], coverage)
  expect(JSON.parse(printed.output)).toEqual(coverage)
  expect(printed.exitCode).toBe(0)
  expect(report(['--jsn'], coverage)).toMatchObject({ output: '', exitCode: 2 })
})

test('the command reads this project', () => {
  const command = ['--import', 'tsx', 'test/spec/coverage.ts', '--json']
  const printed: unknown = JSON.parse(
    execFileSync(process.execPath, command, { cwd: project, encoding: 'utf8' }),
  )
  expect(printed).toMatchObject({ total: 296, unknown: [] })
})
