import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { asText, coverageOf, readTests, type TaggedTest, uncovered } from './coverage.ts'
import { type Requirement, requirements } from './requirements.ts'

test('the list has every number from the first to the last once, in order', () => {
  expect(requirements.map(({ id }) => id)).toEqual(
    Array.from({ length: 296 }, (_, index) => `R${String(index + 1).padStart(3, '0')}`),
  )
})

test('each requirement is one sentence that no other requirement repeats', () => {
  const sentences = requirements.map(({ description }) => description)
  expect(sentences.filter((description) => description.length < 20 || description.length > 260)).toEqual([])
  expect(sentences.filter((description) => !description.endsWith('.') || /[.!?] /.test(description))).toEqual(
    [],
  )
  expect(sentences.filter((description, index) => sentences.indexOf(description) !== index)).toEqual([])
})

test('each requirement has a test that is run, and no title contains an id, because ids are tags', async () => {
  const tests = await readTests(fileURLToPath(new URL('../..', import.meta.url)))
  expect(uncovered(coverageOf(requirements, tests)).map(({ id }) => id)).toEqual([])
  expect(tests.filter(({ title }) => /\bR\d{3}\b/.test(title))).toEqual([])
})

const list: readonly Requirement[] = [
  { id: 'R001', section: 'Authentication', description: 'The first holds.' },
  { id: 'R002', section: 'Authentication', description: 'The second holds.' },
  { id: 'R003', section: 'Versioning', description: 'The third holds.' },
]

const works: TaggedTest = { title: 'works', file: 'src/a.test.ts', line: 1, tags: ['R001'], isRun: true }

test('the report lists the tests of each requirement, the uncovered ones, and the sum', () => {
  expect(asText(coverageOf(list, [works]))).toBe(
    [
      'R001  Authentication: The first holds.',
      '        src/a.test.ts:1  works',
      'R002  Authentication: The second holds.',
      'R003  Versioning: The third holds.',
      '',
      'not covered:',
      'R002  no test',
      'R003  no test',
      '',
      'covered 1 of 3',
      '',
    ].join('\n'),
  )
})

test('a skipped test covers no requirement', () => {
  const coverage = coverageOf(list, [{ ...works, isRun: false }])
  expect(uncovered(coverage).map(({ id }) => id)).toEqual(['R001', 'R002', 'R003'])
  expect(asText(coverage)).toContain('src/a.test.ts:1  works (skipped)')
})
