import { expect, test } from 'vitest'
import {
  fitsRegex,
  MAX_REGEX_LENGTH,
  matchInTime,
  RegexTimeout,
  regexProblem,
  sharedMatchTime,
  withMatchTime,
} from './regex.ts'

test.for<[expression: string, text: string, fits: boolean]>([
  ['pages', '/v1/pages/1', true],
  ['^pages', '/v1/pages/1', false],
  ['^/v1/(?:pages|skills)/\\d+$', '/v1/skills/12', true],
  ['(?i)PAGES', '/v1/pages', true],
  ['[[:upper:]]', '/v1/pages', false],
  ['é', '/v1/café', true],
])('the expression %s matches in %s: %s', ([expression, text, fits]) => {
  expect(regexProblem(expression)).toBeUndefined()
  expect(fitsRegex(expression, text)).toBe(fits)
})

test.for<[expression: string, problem: RegExp]>([
  ['', /empty/],
  ['(', /RE2: missing closing \)/],
  ['(?=ahead)', /RE2: invalid or unsupported Perl syntax/],
  ['(a)\\1', /RE2: invalid escape sequence/],
  ['(a{1000}){1000}', /RE2: invalid repeat count/],
  ['a'.repeat(MAX_REGEX_LENGTH + 1), /at most 1000 characters/],
])('%s is refused', ([expression, problem]) => {
  expect(regexProblem(expression)).toMatch(problem)
})

test('an expression that takes exponential time in other engines ends', () => {
  expect(fitsRegex('^(?:a+a+)+$', `${'a'.repeat(16_000)}!`)).toBe(false)
})

const exponential = () => matchInTime(() => /^(a+)+\1b$/.test('a'.repeat(40)))

test('several pieces of work share their match time, and later ones have none', () => {
  const inTime = sharedMatchTime(120)
  const tries = Array.from({ length: 10 }, () => {
    try {
      return inTime(exponential)
    } catch (error) {
      return (error as Error).message
    }
  })
  expect(tries[0]).toMatch(/one text/)
  expect(tries.slice(3)).toEqual(Array(7).fill('the patterns took too long together'))
  expect(inTime(() => 'no pattern')).toBe('no pattern')
})

test('match time that is used inside counts for the work around it', () => {
  const both = () =>
    withMatchTime(40, () => {
      expect(() => withMatchTime(1_000, exponential)).toThrow(RegexTimeout)
      return matchInTime(() => true)
    })
  expect(both).toThrow('the patterns took too long together')
  expect(withMatchTime(40, () => matchInTime(() => true))).toBe(true)
})
